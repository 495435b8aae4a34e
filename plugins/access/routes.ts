import {
  bool,
  CSRF_COOKIE,
  int,
  kernelErrors,
  list,
  message,
  once,
  newCsrfToken,
  optional,
  payload,
  type Principal,
  route,
  type Route,
  withMessage,
  SESSION_COOKIE,
  type SessionsApi,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import type { Callers } from './callers.js';
import type { Credentials } from './credentials.js';
import { errors } from './errors.js';
import type { LimitedKinds } from './limited-kinds.js';
import type { Login } from './login.js';
import { printableWord } from './printable-word.js';
import type { ProvenLogins } from './proven-logins.js';
import type { Tokens } from './tokens.js';
import type { SecondFactors } from './second-factors.js';

const token = {
  id: int(),
  name: word(),
  enabled: bool(),
  createdAt: int().description('Unix seconds'),
  expiresAt: int().description('Unix ms; 0: never'),
  lastUsedAt: int().description('Unix seconds, at most a minute behind; 0: never'),
  kind: text().description(
    'blank: for what role and maker may call; node: of a central panel, for what it calls of a node',
  ),
  role: int().description('id of a role that limits it; 0: no other limit than its maker'),
  maker: text().description('name of the admin who made it, and who bounds what it may; blank: nobody'),
};
const TokenId = shape({ id: int().min(1).example(1) });

/** The admin whose tokens a caller with a role sees and changes; undefined for a caller who sees all. A token has none. */
function ownTokens(callers: Callers, who: Principal): number | undefined {
  if (!callers.isLimited(who)) return undefined;
  if (who.kind !== 'session') throw errors.OWN_TOKENS();
  return callers.adminOf(who);
}

/** The same rules as for the first admin, whom the environment may define. */
const newPassword = () => word().min(8).max(1024);

export const routes = ({
  login,
  tokens,
  sessions,
  credentials,
  factors,
  kinds,
  callers,
  otherLogins,
}: {
  login: Login;
  tokens: Tokens;
  sessions: SessionsApi;
  credentials: Credentials;
  factors: SecondFactors;
  kinds: LimitedKinds;
  callers: Callers;
  otherLogins: ProvenLogins;
}): Route[] => [
  route({
    method: 'POST',
    path: '/login',
    name: 'access.login',
    auth: 'anyone',
    form: true,
    doc: 'Logs in and sets the session cookie.',
    body: shape({
      username: printableWord().max(255),
      password: word().max(1024),
      twoFactorCode: optional(text().max(16)).description('of the authenticator, or a recovery code'),
      _csrf: optional(text()),
    }).example({ username: 'admin', password: 'correct horse battery' }),
    reply: message(),
    errors: [errors.WRONG_LOGIN, errors.TOO_MANY_LOGINS],
    beforeBody: (input) => login.refuseBlocked(input),
    handle: (input) => login.in(input.body, input),
  }),
  route({
    method: 'POST',
    path: '/logout',
    name: 'access.logout',
    auth: 'anyone',
    doc: 'Ends the session; succeeds without one.',
    form: true,
    body: shape({ _csrf: optional(text()) }).example({}),
    reply: message(),
    errors: [kernelErrors.CSRF],
    handle: (input) => login.out(input.body, input),
  }),
  route({
    method: 'GET',
    path: '/csrf-token',
    name: 'access.csrfToken',
    auth: 'anyone',
    doc: 'The token for the X-CSRF-Token header of unsafe calls made with a session cookie.',
    reply: payload(text()),
    handle: ({ cookies, reply }) => {
      const ofSession = sessions.csrfOf(cookies[SESSION_COOKIE]);
      if (ofSession) return ofSession;
      const fresh = newCsrfToken();
      reply.cookie(CSRF_COOKIE, fresh, {});
      return fresh;
    },
  }),
  route({
    method: 'POST',
    path: '/getTwoFactorEnable',
    name: 'access.twoFactorEnabled',
    auth: 'anyone',
    doc: 'Whether a login may need a code of a second factor: true if any admin has one. It does not tell whose.',
    reply: payload(bool()),
    handle: () => factors.isAny,
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/access/login-methods',
    name: 'access.loginMethods',
    auth: 'anyone',
    doc: 'The ways to log in beside the password that can be used now.',
    reply: payload(
      list(
        shape({
          method: word(),
          label: text().description('name at its button; blank: for the words of the page'),
        }),
      ),
    ),
    handle: () => otherLogins.methods(),
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/updateUser',
    name: 'settings.updateUser',
    doc: "Changes the admin's name and password and ends all other sessions of that admin; with two-factor on it needs a code. An admin with a role keeps the name.",
    body: shape({
      oldUsername: printableWord().max(255),
      oldPassword: word().max(1024),
      newUsername: printableWord().trim().max(255),
      newPassword: newPassword(),
      twoFactorCode: optional(text().max(16)).description('of the authenticator, or a recovery code'),
      revokeTokens: optional(bool()).description('true disables every API token as well'),
    }).example({
      oldUsername: 'admin',
      oldPassword: 'correct horse battery',
      newUsername: 'ada',
      newPassword: 'a new and longer one',
    }),
    reply: payload(
      shape({
        apiTokens: int().description('API tokens that still work'),
        revokedTokens: int().description('API tokens that this call disabled'),
      }),
    ),
    errors: [
      errors.WRONG_CREDENTIALS,
      errors.WRONG_CODE,
      errors.TOO_MANY_LOGINS,
      errors.ADMIN_TAKEN,
      errors.OWN_ACCOUNT,
    ],
    handle: async (input) => {
      const left = await credentials.change(input.body, input);
      const tokensSaid = `${left.apiTokens} API tokens still work${left.apiTokens > 0 ? '; disable those that you do not know' : ''}`;
      return withMessage(
        `name and password changed; all other sessions of this admin are closed; ${tokensSaid}`,
        left,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/setting/apiTokens',
    name: 'settings.apiTokens.list',
    doc: 'All API tokens, for an admin with a role the own ones; never the tokens themselves.',
    reply: payload(list(shape(token))),
    errors: [errors.OWN_TOKENS],
    handle: ({ who }) => tokens.list(ownTokens(callers, who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/apiTokens/create',
    name: 'settings.apiTokens.create',
    doc: 'Creates an API token; its text is in this reply and nowhere else. It never may more than the admin who makes it, also later.',
    body: shape({
      name: printableWord().trim().max(64).prefs({ convert: true }),
      expiresAt: optional(int().min(0).description('Unix ms; 0: never')),
      kind: optional(text().max(16)).description('blank, or left out: for what role and maker may call'),
      role: optional(int().min(0)).description('id of a role; 0, or left out: whatever its maker may'),
    }).example({ name: 'backup', expiresAt: 0 }),
    reply: payload(shape({ ...token, token: word() })),
    errors: [
      errors.TOKEN_NAME_TAKEN,
      errors.TOKEN_EXPIRED,
      errors.TOKEN_KIND,
      errors.NO_ROLES,
      errors.OWN_TOKENS,
    ],
    handle: (input) => {
      const { who } = input;
      const { name, expiresAt = 0, kind = '', role = 0 } = input.body;
      kinds.requireKnown(kind);
      // A kind opens routes that no role does, so a role cannot bound it.
      if (kind !== '' && (role !== 0 || callers.isLimited(who)))
        throw errors.TOKEN_KIND('kind: a token with a kind has no role, and needs a full admin', {
          path: 'kind',
        });
      ownTokens(callers, who);
      const wish = { name, expiresAt, kind, role, maker: callers.adminOf(who) };
      return once(input, (note) => tokens.create(wish, who, note));
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/apiTokens/delete/{id}',
    name: 'settings.apiTokens.delete',
    doc: 'Removes an API token for good.',
    params: TokenId,
    reply: message(),
    errors: [errors.TOKEN_NOT_FOUND, errors.OWN_TOKENS],
    handle: ({ params, who }) => tokens.delete(params.id, who, ownTokens(callers, who)),
  }),
  route({
    method: 'POST',
    path: '/panel/api/setting/apiTokens/setEnabled/{id}',
    name: 'settings.apiTokens.setEnabled',
    doc: 'Switches an API token off or on again.',
    params: TokenId,
    body: shape({ enabled: bool() }).example({ enabled: false }),
    reply: message(),
    errors: [errors.TOKEN_NOT_FOUND, errors.OWN_TOKENS],
    handle: ({ params, body, who }) =>
      tokens.setEnabled(params.id, body.enabled, who, ownTokens(callers, who)),
  }),
];
