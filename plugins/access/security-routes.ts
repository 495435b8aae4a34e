// Open sessions, and recovery codes.
import {
  bool,
  type Database,
  int,
  list,
  message,
  payload,
  type Principal,
  route,
  type Route,
  type SessionsApi,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { errors } from './errors.js';
import type { Callers } from './callers.js';
import type { KnownAdmin } from './known-admin.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { TwoFactorRules } from './two-factor-rules.js';

const MOST_SHOWN = 1000;

/** The sessions that a caller sees and may end: all, or with a role the own ones, of which a token has none. */
const sessionsFor = (callers: Callers, sessions: SessionsApi, who: Principal) =>
  sessions
    .list()
    .filter(({ userName }) => !callers.isLimited(who) || (who.kind === 'session' && userName === who.name));

/** The admin whose second factor a caller may use: a token with a role has none. */
function adminFor(callers: Callers, who: Principal): KnownAdmin | undefined {
  if (who.kind !== 'session' && callers.isLimited(who)) throw errors.OWN_ACCOUNT();
  return callers.adminBehind(who);
}

export const securityRoutes = ({
  sessions,
  db,
  rules,
  recoveryCodes,
  audit,
  callers,
}: {
  sessions: SessionsApi;
  db: Database;
  rules: TwoFactorRules;
  recoveryCodes: RecoveryCodes;
  audit?: AuditTrailApi | undefined;
  callers: Callers;
}): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/access/sessions',
    name: 'access.sessions.list',
    doc: `Open sessions, for a caller with a role those of the own name; the one that was used last comes first. At most ${MOST_SHOWN} are shown.`,
    reply: payload(
      list(
        shape({
          id: word(),
          username: text(),
          createdAt: int().description('Unix ms of the login'),
          lastUsedAt: int().description('Unix ms, at most a minute behind'),
          expiresAt: int().description('Unix ms at which it ends unless it is used'),
          ip: text().description('address that used it last; empty for a session from before an upgrade'),
          userAgent: text().description('as the browser called itself at the login'),
          current: bool().description('whether this request came with it'),
        }),
      ),
    ),
    handle: ({ who }) =>
      sessionsFor(callers, sessions, who)
        .slice(0, MOST_SHOWN)
        .map(({ digest, userName, createdAt, seenAt, ip, userAgent }) => ({
          id: digest,
          username: userName,
          createdAt,
          lastUsedAt: seenAt,
          expiresAt: Math.min(seenAt + sessions.lifetime, createdAt + sessions.longest),
          ip,
          userAgent,
          current: digest === who.session,
        })),
  }),
  route({
    method: 'POST',
    path: '/panel/api/access/sessions/revoke/{id}',
    name: 'access.sessions.revoke',
    doc: 'Ends one session, and the live connections that rest on it.',
    params: shape({ id: word().pattern(/^[0-9a-f]{64}$/, 'id of a session') }),
    reply: message(),
    errors: [errors.SESSION_NOT_FOUND],
    handle: async ({ params, who }) => {
      const session = sessionsFor(callers, sessions, who).find(({ digest }) => digest === params.id);
      if (!session) throw errors.SESSION_NOT_FOUND(undefined, { path: 'id' });
      const { userName, ip } = session;
      await audit?.act('session', who, { name: 'revoke', facts: { admin: userName, from: ip } });
      await sessions.close(params.id);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/access/sessions/revokeOthers',
    name: 'access.sessions.revokeOthers',
    doc: 'Ends every session but that of the caller, for a caller with a role those of the own name; a caller with an API token ends all.',
    reply: message(),
    errors: [errors.OWN_ACCOUNT],
    handle: async ({ who }) => {
      const of = callers.isLimited(who) ? who.name : undefined;
      if (of !== undefined && who.kind !== 'session') throw errors.OWN_ACCOUNT();
      await audit?.act('session', who, { name: 'revokeOthers' });
      await sessions.closeAll({ of, except: who.session });
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/access/recoveryCodes',
    name: 'access.recoveryCodes.count',
    doc: 'How many recovery codes the admin who asks has left; never the codes themselves.',
    reply: payload(shape({ left: int() })),
    errors: [errors.OWN_ACCOUNT],
    handle: async ({ who }) => {
      const admin = adminFor(callers, who);
      return { left: admin ? await recoveryCodes.left(admin.id) : 0 };
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/access/recoveryCodes/renew',
    name: 'access.recoveryCodes.renew',
    doc: 'Makes new recovery codes of the admin who asks, in place of all earlier ones; they are in this reply and nowhere else.',
    body: shape({
      twoFactorCode: text().max(16).description('of the authenticator, or a recovery code that is left'),
    }).example({ twoFactorCode: '123456' }),
    reply: payload(shape({ recoveryCodes: list(word()) })),
    errors: [
      errors.TWO_FACTOR_OFF,
      errors.WRONG_CODE,
      errors.TOO_MANY_LOGINS,
      errors.OWN_ACCOUNT,
      errors.FACTOR_CHANGED,
      errors.NO_OWN_FACTOR,
    ],
    handle: async (input) => {
      const admin = adminFor(callers, input.who);
      if (!admin) throw errors.NO_OWN_FACTOR();
      const write = await rules.renew(admin, input.body.twoFactorCode, input);
      return { recoveryCodes: [...(await db.write(write))] };
    },
  }),
];
