// Logins by proofs that other plugins check: the same limits, hooks, session and cookies as with a password.
import {
  type Hooks,
  PanelError,
  type PluginContext,
  type Principal,
  type RequestInfo,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Attempts } from './attempts.js';
import type { Callers } from './callers.js';
import {
  type AdminIdentity,
  beforeLogin,
  LoginMethods,
  type OtherLogin,
  type OtherLoginsApi,
  type OwnProof,
} from './contract.js';
import { errors } from './errors.js';
import type { KnownAdmin } from './known-admin.js';
import type { LoginReports } from './login-reports.js';
import type { SessionOpener } from './session-opener.js';
import type { TwoFactor } from './two-factor.js';

/** In place of a user name, which these logins do not send. No name can hold a control character. */
const sourceOf = (method: string): string => `\u0001${method}`;
const identityOf = ({ id, username, roleId, enabled }: KnownAdmin): AdminIdentity => ({
  id,
  username,
  role: roleId,
  enabled: Boolean(enabled),
});

export class ProvenLogins implements OtherLoginsApi {
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #callers: Callers;
  readonly #twoFactor: TwoFactor;
  readonly #hooks: Hooks;
  readonly #opener: SessionOpener;
  readonly #reports: LoginReports;
  readonly #contributions: PluginContext['contributions'];

  constructor(parts: {
    admins: Admins;
    attempts: Attempts;
    callers: Callers;
    twoFactor: TwoFactor;
    hooks: Hooks;
    opener: SessionOpener;
    reports: LoginReports;
    contributions: PluginContext['contributions'];
  }) {
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#callers = parts.callers;
    this.#twoFactor = parts.twoFactor;
    this.#hooks = parts.hooks;
    this.#opener = parts.opener;
    this.#reports = parts.reports;
    this.#contributions = parts.contributions;
  }

  /** The ways to log in that can be used now, with the names at their buttons. */
  methods(): { method: string; label: string }[] {
    return this.#contributions(LoginMethods).flatMap(({ value, fault }) => {
      try {
        const label = value.label();
        return label === undefined ? [] : [{ method: value.method, label }];
      } catch (error) {
        fault(`label of the login method ${value.method}`, error);
        return [];
      }
    });
  }

  refuseBlocked(method: string, { ip, cookies }: RequestInfo): void {
    try {
      this.#attempts.refuseBlocked({ ip, cookies, username: sourceOf(method) });
    } catch (error) {
      this.#reports.failed({ username: '', ip, method }, this.#reports.blocked(error) ?? '');
      throw error;
    }
  }

  async logIn(
    { method, check, holds = () => true }: OtherLogin,
    request: RequestInfo,
  ): Promise<AdminIdentity> {
    const { ip, cookies, signal } = request;
    let username = '';
    const guesser = { ip, username: sourceOf(method), cookies, signal, isUnguessable: true };
    const verify = async () => {
      const id = await check((claimed) => {
        username = claimed;
      });
      const admin = await this.#admins.withId(id);
      username = admin?.username ?? username;
      if (!admin?.enabled) throw errors.LOGIN_REFUSED();
      return admin;
    };
    const admin = await this.#attempts.run(guesser, verify).catch((error: unknown) => {
      const refusal = error instanceof PanelError && error.status < 500 ? error.message : '';
      this.#reports.failed({ username, ip, method }, this.#reports.blocked(error) ?? refusal);
      throw error;
    });
    await this.#hooks.check(beforeLogin, { username, ip });
    if (!(await this.#opener.open(admin, { method, username, holds }, request))) throw errors.LOGIN_REFUSED();
    return identityOf(admin);
  }

  async confirm(
    { password, twoFactorCode }: OwnProof,
    { who, ip, cookies, signal }: RequestInfo,
  ): Promise<AdminIdentity> {
    const identity = this.adminOf(who);
    if (!identity) throw errors.OWN_ACCOUNT('this needs the session of an admin, not an API token');
    const guesser = { ip, username: who.name, cookies, isAuthenticated: true, signal };
    await this.#attempts.run(guesser, async (attempt) => {
      if (!(await this.#admins.isPassword(password, identity.id)))
        throw errors.WRONG_CREDENTIALS('the password is wrong', { path: 'password' });
      if (await this.#twoFactor.passes(identity.id, twoFactorCode)) return;
      attempt.wrongCode();
      throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
    });
    return identity;
  }

  adminOf(who: Principal): AdminIdentity | undefined {
    return who.kind === 'session' ? this.adminWith(this.#callers.adminOf(who)) : undefined;
  }

  adminWith(id: number): AdminIdentity | undefined {
    const admin = this.#admins.projection.state.get(id);
    return admin && identityOf(admin);
  }

  adminNamed(username: string): AdminIdentity | undefined {
    const admin = this.#admins.named(username);
    return admin && identityOf(admin);
  }
}
