// The second factor of the admin who asks, whatever its role.
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
  shape,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { Callers } from './callers.js';
import { errors } from './errors.js';
import type { KnownAdmin } from './known-admin.js';
import type { RecoveryCodes } from './recovery-codes.js';
import type { SecondFactors } from './second-factors.js';
import { secretText } from './two-factor.js';
import { confirmations, type TwoFactorRules } from './two-factor-rules.js';

const PATH = '/panel/api/x/account/secondFactor';
const Codes = payload(shape({ recoveryCodes: list(word()).description('shown here and never again') }));
const checks = [errors.WRONG_CODE, errors.TOO_MANY_LOGINS, errors.FACTOR_CHANGED, errors.NO_OWN_FACTOR];

/** Throws NO_OWN_FACTOR for all that is no session of an admin. */
function sessionOf(callers: Callers, who: Principal): KnownAdmin {
  const admin = who.kind === 'session' ? callers.adminBehind(who) : undefined;
  if (!admin) throw errors.NO_OWN_FACTOR();
  return admin;
}

export const accountRoutes = ({
  db,
  callers,
  factors,
  rules,
  recoveryCodes,
}: {
  db: Database;
  callers: Callers;
  factors: SecondFactors;
  rules: TwoFactorRules;
  recoveryCodes: RecoveryCodes;
}): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    name: 'account.secondFactor.get',
    doc: 'The second factor of the admin who asks; never its secret.',
    reply: payload(
      shape({
        enabled: bool(),
        since: int().description('Unix ms since when this secret is in force; 0 without one'),
        shared: bool().description(
          'whether other admins have the same secret, from when it was one for all; set another one',
        ),
        recoveryCodes: int().description('how many recovery codes are left'),
      }),
    ),
    errors: [errors.NO_OWN_FACTOR],
    handle: async ({ who }) => {
      const { id } = sessionOf(callers, who);
      const factor = await factors.of(id);
      return {
        enabled: factor !== undefined,
        since: factor?.since ?? 0,
        shared: factor?.isShared ?? false,
        recoveryCodes: await recoveryCodes.left(id),
      };
    },
  }),
  route({
    method: 'POST',
    path: PATH,
    name: 'account.secondFactor.set',
    doc: 'Turns the second factor of the admin who asks on, or changes its secret, which also needs the password and a code of the secret in force. Closes the other sessions of that admin.',
    body: shape({ twoFactorToken: secretText(), ...confirmations }).example({
      twoFactorToken: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      twoFactorCode: '123456',
    }),
    reply: Codes,
    errors: [...checks, errors.NO_SECRET, errors.WRONG_CREDENTIALS],
    handle: async (input) => {
      const { twoFactorToken, ...proofs } = input.body;
      const write = await rules.enable(sessionOf(callers, input.who), twoFactorToken, proofs, input);
      return withMessage('the second factor is on', { recoveryCodes: [...(await db.write(write))] });
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/del`,
    name: 'account.secondFactor.delete',
    doc: 'Turns the second factor of the admin who asks off, and deletes its secret and recovery codes.',
    body: shape({
      twoFactorCode: text().max(16).description('of the authenticator, or a recovery code'),
    }).example({ twoFactorCode: '123456' }),
    reply: message(),
    errors: [...checks, errors.NO_SECOND_FACTOR],
    handle: async (input) => {
      await db.write(await rules.disable(sessionOf(callers, input.who), input.body, input));
      return 'the second factor is off';
    },
  }),
];
