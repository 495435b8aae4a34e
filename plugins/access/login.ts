// Logging in and out.
import {
  CSRF_COOKIE,
  type Hooks,
  isSameOrigin,
  type RequestInfo,
  requireCsrf,
  SESSION_COOKIE,
  type SessionsApi,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Attempt, Attempts } from './attempts.js';
import { beforeLogin, BLOCKED } from './contract.js';
import { errors } from './errors.js';
import type { Admin } from './known-admin.js';
import type { LoginReports } from './login-reports.js';
import type { SecondFactor } from './second-factors.js';
import type { SessionOpener } from './session-opener.js';
import type { TwoFactor } from './two-factor.js';

/** The method of these logins, in reports. */
const PASSWORD = 'password';

export interface LoginBody {
  readonly username: string;
  readonly password: string;
  readonly twoFactorCode?: string;
  readonly _csrf?: string;
}

export class Login {
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #twoFactor: TwoFactor;
  readonly #sessions: SessionsApi;
  readonly #hooks: Hooks;
  readonly #opener: SessionOpener;
  readonly #reports: LoginReports;

  constructor(parts: {
    admins: Admins;
    attempts: Attempts;
    twoFactor: TwoFactor;
    sessions: SessionsApi;
    hooks: Hooks;
    opener: SessionOpener;
    reports: LoginReports;
  }) {
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#twoFactor = parts.twoFactor;
    this.#sessions = parts.sessions;
    this.#hooks = parts.hooks;
    this.#opener = parts.opener;
    this.#reports = parts.reports;
  }

  /** Runs before the body is read, so the name is not known: a blocked address costs nothing more. */
  refuseBlocked({ ip, cookies }: RequestInfo): void {
    try {
      this.#attempts.refuseBlocked({ ip, cookies });
    } catch (error) {
      this.#reports.failed({ username: '', ip, method: PASSWORD }, BLOCKED);
      throw error;
    }
  }

  /** Logs in and sets the session cookie. Any page can send a form, so a form must come from our origin or carry the CSRF token; no other page can send JSON. */
  async in({ username, password, twoFactorCode, _csrf }: LoginBody, request: RequestInfo): Promise<string> {
    const { ip, headers, cookies, signal } = request;
    // Media types are not case-sensitive, and another page can write them in any case.
    if (
      headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') &&
      !isSameOrigin(headers)
    )
      requireCsrf(cookies[CSRF_COOKIE], _csrf ?? (headers['x-csrf-token'] as string | undefined));
    await this.#hooks.check(beforeLogin, { username, ip });
    let reason = '';
    let factor: SecondFactor | undefined;
    const check = async (attempt: Attempt): Promise<Admin> => {
      const admin = await this.#admins.withPassword(username, password, attempt);
      // Asked only for a right password: neither reply nor time tells strangers who has a second factor.
      const passed = admin && (await this.#twoFactor.passes(admin.id, twoFactorCode));
      factor = passed?.factor;
      if (admin && passed) return admin;
      if (admin) attempt.wrongCode();
      reason = admin ? 'invalid two-factor code' : 'invalid credentials';
      // The same message for both: somebody who guesses passwords must not learn that one is right.
      throw errors.WRONG_LOGIN();
    };
    const admin = await this.#attempts
      .run({ ip, username, cookies, signal }, check)
      .catch((error: unknown) => {
        const login = { username, ip, method: PASSWORD };
        this.#reports.failed(login, this.#reports.blocked(error) ?? reason);
        throw error;
      });
    // Two-factor may have been turned on during this login.
    const holds = () => this.#twoFactor.stillCounts(admin.id, factor);
    const proof = { method: PASSWORD, username, holds };
    if (!(await this.#opener.open(admin, proof, request))) throw errors.WRONG_LOGIN();
    return 'logged in';
  }

  /** Another page must not log the admin out, but who has no session needs no token. */
  async out(
    { _csrf }: { readonly _csrf?: string },
    { cookies, headers, reply }: RequestInfo,
  ): Promise<string> {
    const expected = this.#sessions.csrfOf(cookies[SESSION_COOKIE]);
    if (expected !== undefined) {
      requireCsrf(expected, (headers['x-csrf-token'] as string | undefined) ?? _csrf);
      const own = this.#sessions.list().filter(({ csrf }) => csrf === expected);
      for (const { digest } of own) await this.#sessions.close(digest);
    }
    reply.clearCookie(SESSION_COOKIE);
    return 'logged out';
  }
}
