// Why a login by another proof than a password failed, or an account was not linked: the code in the address, as a sentence.
import type { MessageKey } from '../language/message-key.js';

const SENTENCES: Readonly<Record<string, MessageKey>> = {
  ACCESS_TOO_MANY_LOGINS: 'login.tooMany',
  ACCESS_LOGIN_REFUSED: 'logins.refused',
  OPENID_STALE: 'logins.stale',
  OPENID_CANCELLED: 'logins.cancelled',
  OPENID_NOT_PROVEN: 'logins.notProven',
  OPENID_UNLINKED: 'logins.unlinked',
  OPENID_PROVIDER_DOWN: 'logins.providerDown',
  OPENID_NO_SESSION: 'logins.noSession',
  OPENID_TAKEN: 'logins.taken',
  OPENID_LINKED: 'logins.linked',
};
const CODE = /^[A-Z][A-Z_]{0,63}$/;

/** Anybody can write an address: what is no code is not shown. Undefined where there is none. */
export const refusalOf = (code: string | undefined): { text: MessageKey; code: string } | undefined =>
  code === undefined || !CODE.test(code) ? undefined : { text: SENTENCES[code] ?? 'trouble.panel', code };
