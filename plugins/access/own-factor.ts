// The second factor as settings: `twoFactorEnable` and `twoFactorToken` are those of the admin who asks.
import type { Principal, Tx } from '../../kernel/index.js';
import type { OwnSettingsSource } from '../settings/contract.js';
import type { Callers } from './callers.js';
import { errors } from './errors.js';
import type { SecondFactors } from './second-factors.js';
import { twoFactorSettings } from './two-factor.js';
import type { Proofs, TwoFactorRules } from './two-factor-rules.js';

export class OwnFactor implements OwnSettingsSource {
  readonly settings = Object.keys(twoFactorSettings);
  readonly #callers: Callers;
  readonly #factors: SecondFactors;
  readonly #rules: TwoFactorRules;

  constructor(parts: { callers: Callers; factors: SecondFactors; rules: TwoFactorRules }) {
    this.#callers = parts.callers;
    this.#factors = parts.factors;
    this.#rules = parts.rules;
  }

  readonly read = async (who: Principal, tx?: Tx): Promise<Readonly<Record<string, unknown>>> => {
    const admin = this.#callers.adminBehind(who);
    const factor = admin && (await this.#factors.of(admin.id, tx));
    return { twoFactorEnable: factor !== undefined, twoFactorToken: factor?.secret ?? '' };
  };

  /** A secret is stored only while two-factor is on: an untested or unused one is dropped. */
  readonly prepare: OwnSettingsSource['prepare'] = async ({ changes, values, sent, who }) => {
    const isOn = values['twoFactorEnable'] === true;
    if (!isOn && !('twoFactorEnable' in changes)) return undefined;
    const admin = this.#callers.adminBehind(who);
    if (!admin) throw errors.NO_OWN_FACTOR(undefined, { path: 'twoFactorEnable' });
    const { hosts: _hosts, ip, ...principal } = who;
    const caller = { who: { ...principal, ip }, ip };
    const write = isOn
      ? await this.#rules.enable(admin, String(values['twoFactorToken'] ?? ''), sent as Proofs, caller)
      : await this.#rules.disable(admin, sent as Proofs, caller);
    return async (tx) => {
      const recoveryCodes = await write(tx);
      return recoveryCodes.length > 0 ? { recoveryCodes } : {};
    };
  };
}
