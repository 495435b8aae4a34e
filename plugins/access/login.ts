// Logging in and out.
import {
  type Hooks,
  CSRF_COOKIE,
  isSameOrigin,
  PanelError,
  type RequestInfo,
  requireCsrf,
  SESSION_COOKIE,
  type SessionsApi,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Attempt, Attempts } from './attempts.js';
import { beforeLogin, BLOCKED, loginAttempted, sessionToken } from './contract.js';
import type { DeviceCookie } from './device-cookie.js';
import { errors } from './errors.js';
import type { KnownAddresses } from './known-addresses.js';
import type { Admin } from './known-admin.js';
import type { SecondFactor } from './second-factors.js';
import type { TwoFactor } from './two-factor.js';

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
  readonly #addresses: KnownAddresses;
  readonly #devices: DeviceCookie;

  constructor(parts: {
    admins: Admins;
    attempts: Attempts;
    twoFactor: TwoFactor;
    sessions: SessionsApi;
    hooks: Hooks;
    addresses: KnownAddresses;
    devices: DeviceCookie;
  }) {
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#twoFactor = parts.twoFactor;
    this.#sessions = parts.sessions;
    this.#hooks = parts.hooks;
    this.#addresses = parts.addresses;
    this.#devices = parts.devices;
  }

  /** Runs before the body is read, so the name is not known: a blocked address costs nothing more. */
  refuseBlocked({ ip, cookies }: RequestInfo): void {
    try {
      this.#attempts.refuseBlocked({ ip, cookies });
    } catch (error) {
      this.#report('', ip, false, BLOCKED);
      throw error;
    }
  }

  /** Logs in and sets the session cookie. Any page can send a form, so a form must come from our origin or carry the CSRF token; no other page can send JSON. */
  async in(
    { username, password, twoFactorCode, _csrf }: LoginBody,
    { ip, headers, cookies, reply, signal }: RequestInfo,
  ): Promise<string> {
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
        if (error instanceof PanelError && error.code === errors.TOO_MANY_LOGINS.code) reason = BLOCKED;
        if (reason !== '') this.#report(username, ip, false, reason);
        throw error;
      });
    const token = await this.#hooks.choose(sessionToken, { ip, headers, cookies });
    const { id, session } = await this.#sessions.open(admin.username, token, {
      ip,
      userAgent: headers['user-agent'],
    });
    const holds = await this.#twoFactor.stillCounts(admin.id, factor);
    if (!holds || !(await this.#admins.isUnchanged(admin))) {
      // Changed during this login; the change closed all sessions that were open by then.
      await this.#sessions.close(session.digest);
      throw errors.WRONG_LOGIN();
    }
    await this.#addresses.remember(ip);
    this.#report(username, ip, true, '');
    reply.cookie(SESSION_COOKIE, id, { maxAge: this.#sessions.longest });
    reply.clearCookie(CSRF_COOKIE);
    this.#devices.set({ cookies, reply });
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

  #report(username: string, ip: string, ok: boolean, reason: string): void {
    if (this.#hooks.isUsed(loginAttempted))
      this.#hooks.emit(loginAttempted, { attempts: [{ username, ip, ok, reason }] });
  }
}
