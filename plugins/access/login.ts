// Logging in and out.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hooks, CSRF_COOKIE, isSameOrigin, type RequestInfo, requireCsrf, SESSION_COOKIE, type SessionsApi } from '../../kernel/index.js';
import type { Admins } from './admins.js';
import { beforeLogin, loginAttempted } from './contract.js';
import { errors } from './errors.js';
import type { LoginLimits } from './login-limits.js';

export interface LoginBody {
  readonly username: string;
  readonly password: string;
  readonly twoFactorCode?: string;
  readonly _csrf?: string;
}

export class Login {
  readonly #admins: Admins;
  readonly #limits: LoginLimits;
  readonly #sessions: SessionsApi;
  readonly #hooks: Hooks;

  constructor({ admins, limits, sessions, hooks }: { admins: Admins; limits: LoginLimits; sessions: SessionsApi; hooks: Hooks }) {
    this.#admins = admins;
    this.#limits = limits;
    this.#sessions = sessions;
    this.#hooks = hooks;
  }

  /** Sets the session cookie. A form could be sent by any page, so it must come from ours or carry the token; JSON cannot. */
  async in({ username, password, _csrf }: LoginBody, { ip, headers, cookies, reply, signal }: RequestInfo): Promise<string> {
    // Media types have no case, and a page elsewhere may write them as it likes.
    if (headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') && !isSameOrigin(headers)) requireCsrf(cookies[CSRF_COOKIE], _csrf ?? (headers['x-csrf-token'] as string | undefined));
    await this.#hooks.check(beforeLogin, { username, ip });
    const verdict = this.#limits.attempt(ip, username);
    if ('blockedFor' in verdict) {
      this.#report(username, ip, false, 'too many failed attempts');
      throw errors.TOO_MANY_LOGINS(undefined, { headers: { 'Retry-After': String(Math.ceil(verdict.blockedFor / 1000)) } });
    }
    if (verdict.delay > 0) {
      await sleep(verdict.delay, undefined, { signal }).catch((cause: unknown) => {
        // The caller is gone; nobody is to blame.
        throw errors.WRONG_LOGIN(undefined, { cause });
      });
    }
    if (!(await this.#admins.isPasswordOf(username, password))) {
      this.#report(username, ip, false, 'invalid credentials');
      throw errors.WRONG_LOGIN();
    }
    this.#limits.succeeded(ip, username);
    this.#report(username, ip, true, '');
    const { id } = await this.#sessions.open(username);
    reply.cookie(SESSION_COOKIE, id, { maxAge: this.#sessions.lifetime });
    reply.clearCookie(CSRF_COOKIE);
    return 'logged in';
  }

  async out({ who, reply }: RequestInfo): Promise<void> {
    if (who?.session) await this.#sessions.close(who.session);
    reply.clearCookie(SESSION_COOKIE);
  }

  #report(username: string, ip: string, ok: boolean, reason: string): void {
    if (this.#hooks.isUsed(loginAttempted)) this.#hooks.emit(loginAttempted, { attempts: [{ username, ip, ok, reason }] });
  }
}
