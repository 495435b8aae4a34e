// What the proxies with name and password have in common (HTTP and SOCKS). Their users are part of the inbound's config,
// and the core counts them by the name of the login.
import { randomUUID } from 'node:crypto';
import { annotate, list, optional, shape, text } from '../../../kernel/index.js';
import { type ConfigAccountType, type JsonObject, userName, userOf } from '../../engine/contract.js';
import type { ClientIdentity, EntryTemplate, Inbound } from '../contract.js';
import type { EntryBase } from '../entry/base.js';
import type { LoginAccount } from '../entry/entry.js';
import { section } from '../form.js';
import { objectOf, textOf } from '../stream/transport.js';

type Settings = Readonly<Record<string, unknown>>;

/** RFC 1929 has one byte for the length. */
const LONGEST = 255;
const tooLong = (word: string): boolean => Buffer.byteLength(word) > LONGEST;

/** Xray-core 26.3.27, infra/conf/http.go and socks.go. */
export const loginAccounts = (name: string, inboundType: string): ConfigAccountType => ({
  name,
  users: 'config',
  inboundType,
  list: 'accounts',
  nameKey: 'user',
  fields: { password: { type: 'string', json: 'pass' } },
  fault: ({ password }) =>
    password !== '' && !tooLong(String(password)) ? undefined : `password must have 1 to ${LONGEST} bytes`,
  nobody: () => ({ password: randomUUID() }),
});

const word = (name: string) =>
  text()
    .min(1)
    .pattern(/^[^\p{Cc}\p{Cs}]+$/u, `${name} without control characters`)
    .custom((value: string, state) =>
      tooLong(value)
        ? state.error('any.custom', { error: new Error(`${name} must have at most ${LONGEST} bytes`) })
        : value,
    );
const user = word('user')
  // RFC 7617 ends the name at the first colon.
  .pattern(/^[^:]+$/, 'user without a colon')
  .custom((value: string, state) =>
    userOf(value) || value.startsWith('weir.')
      ? state.error('any.custom', {
          error: new Error(`${value} is a name of the panel's own; choose another`),
        })
      : value,
  );

/** Logins of the inbound's own, beside those of its clients: `settings.accounts`. */
export const ownAccounts = () =>
  optional(
    list(shape(section('Logins', { user, pass: annotate(word('pass'), { secret: true }) })).unknown(true))
      .max(1000)
      // The core would keep the last of them.
      .unique('user'),
  );

/** In the form of the core's config: only what it reads, so that a key that has no effect here never gets one. */
export const accountsOf = (settings: Settings): JsonObject[] =>
  (Array.isArray(settings['accounts']) ? (settings['accounts'] as unknown[]) : []).map((account) => {
    const { user: name, pass } = objectOf(account);
    return { user: textOf(name), pass: textOf(pass) };
  });

/** What to tell an admin who saves such accounts. */
export function accountsNote(settings: Settings): string | undefined {
  const { length } = accountsOf(settings);
  return length === 0
    ? undefined
    : `logins in settings.accounts are not clients: they have no limits, and nobody counts their bytes`;
}

export const loginEntry = (
  protocol: LoginAccount['protocol'],
  { id: inboundId }: Inbound,
  base: EntryBase,
): EntryTemplate<LoginAccount> => ({
  ...base,
  account: {
    protocol,
    user: ({ id: clientId }: ClientIdentity) => userName({ inboundId, clientId }),
    password: ({ password }: ClientIdentity) => password,
  },
});
