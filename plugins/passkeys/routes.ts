import {
  int,
  list,
  message,
  payload,
  openObject,
  optional,
  type Principal,
  type Route,
  route,
  shape,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { OtherLoginsApi } from '../access/contract.js';
import { LoginAnswer, RegisterAnswer } from './answers.js';
import { errors } from './errors.js';
import type { Passkey, Passkeys } from './keys.js';
import type { PasskeyLogin } from './passkey-login.js';
import type { Registration } from './registration.js';

const PATH = '/panel/api/x/passkeys';
const places = [errors.NEEDS_NAME, errors.NEEDS_HTTPS, errors.OTHER_HOST];
const OwnProof = shape({
  password: word().max(1024),
  twoFactorCode: optional(text().max(16)).description('of the authenticator, or a recovery code'),
});
const KeyId = shape({ id: int().min(1).example(1) });
const Key = shape({
  id: int(),
  name: word(),
  origin: word().description('address of the page that registered it: it works only there'),
  createdAt: int().description('Unix ms'),
  lastUsedAt: int().description('Unix ms of the last login with it; 0: never'),
});
const shown = ({ id, name, origin, createdAt, lastUsedAt }: Passkey) => ({
  id,
  name,
  origin,
  createdAt,
  lastUsedAt,
});
/** One line, without what turns the writing of a page around. */
const keyName = () =>
  word()
    .trim()
    .max(64)
    .pattern(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u, 'text of one line');
const EXAMPLE = {
  id: 'AAAA',
  rawId: 'AAAA',
  type: 'public-key',
  clientExtensionResults: {},
} as const;

export const routes = ({
  keys,
  login,
  registration,
  logins,
}: {
  keys: Passkeys;
  login: PasskeyLogin;
  registration: Registration;
  logins: OtherLoginsApi;
}): Route[] => {
  const own = (who: Principal) => registration.adminOf(who);
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'passkeys.list',
      doc: 'The passkeys of the admin who asks, in the order in which they were registered.',
      reply: payload(list(Key)),
      errors: [errors.NO_ADMIN],
      handle: async ({ who }) => (await keys.of(own(who).id)).map(shown),
    }),
    route({
      method: 'POST',
      path: `${PATH}/register/options`,
      name: 'passkeys.registerOptions',
      doc: 'Begins to register a passkey of the admin who asks. Returns the options for `navigator.credentials.create`, in JSON; they count for five minutes, in this browser.',
      body: OwnProof.example({ password: 'correct horse battery' }),
      reply: payload(openObject()),
      errors: [errors.NO_ADMIN, errors.TOO_MANY, ...places],
      // The reply sets a cookie, which a replay would not.
      idempotent: false,
      handle: async (input) => ({ ...(await registration.begin(input.body, input)) }),
    }),
    route({
      method: 'POST',
      path: `${PATH}/register`,
      name: 'passkeys.register',
      doc: 'Registers the passkey that the browser has made.',
      body: shape({ name: keyName(), answer: RegisterAnswer }).example({
        name: 'phone',
        answer: { ...EXAMPLE, response: { clientDataJSON: 'e30', attestationObject: 'oA' } },
      }),
      reply: payload(Key),
      errors: [
        errors.NO_ADMIN,
        errors.STALE,
        errors.NOT_REGISTERED,
        errors.TAKEN,
        errors.TOO_MANY,
        ...places,
      ],
      handle: async (input) => {
        const { name, answer } = input.body;
        return withMessage('passkey registered', shown(await registration.finish(name, answer, input)));
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/rename`,
      name: 'passkeys.rename',
      doc: 'Gives a passkey of the admin who asks another name.',
      params: KeyId,
      body: shape({ name: keyName() }).example({ name: 'old phone' }),
      reply: payload(Key),
      errors: [errors.NO_ADMIN, errors.NOT_FOUND],
      handle: async ({ params, body, who }) => shown(await keys.rename(own(who), params.id, body.name, who)),
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/del`,
      name: 'passkeys.delete',
      doc: 'Removes a passkey of the admin who asks, and closes the other sessions of that admin.',
      params: KeyId,
      reply: message(),
      errors: [errors.NO_ADMIN, errors.NOT_FOUND],
      handle: async ({ params, who }) => {
        await keys.remove(own(who), params.id, who);
        return 'passkey removed';
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/of/{adminId}/del`,
      name: 'passkeys.deleteAll',
      doc: 'Removes all passkeys of an admin, for a full admin, and closes the sessions of that admin.',
      params: shape({ adminId: int().min(1).example(2) }),
      reply: payload(shape({ removed: int() })),
      errors: [errors.ADMIN_NOT_FOUND],
      handle: async ({ params, who }) => {
        const admin = logins.adminWith(params.adminId);
        if (!admin) throw errors.ADMIN_NOT_FOUND(undefined, { path: 'adminId' });
        return { removed: await keys.removeAll(admin, who) };
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/login/options`,
      name: 'passkeys.loginOptions',
      auth: 'anyone',
      doc: 'Begins a login with a passkey. Returns the options for `navigator.credentials.get`, in JSON; they count for five minutes, in this browser.',
      reply: payload(openObject()),
      errors: places,
      beforeBody: (input) => login.refuseBlocked(input),
      handle: async (input) => ({ ...(await login.begin(input)) }),
    }),
    route({
      method: 'POST',
      path: `${PATH}/login`,
      name: 'passkeys.login',
      auth: 'anyone',
      doc: 'Logs in with the answer of the browser, and sets the session cookie. No code of a second factor is asked for.',
      body: shape({ answer: LoginAnswer }).example({
        answer: {
          ...EXAMPLE,
          response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' },
        },
      }),
      reply: payload(shape({ username: text() })),
      errors: [errors.STALE, errors.REFUSED, errors.OTHER_ADDRESS, errors.COUNTER, ...places],
      beforeBody: (input) => login.refuseBlocked(input),
      handle: async (input) =>
        withMessage('logged in', { username: await login.finish(input.body.answer, input) }),
    }),
  ];
};
