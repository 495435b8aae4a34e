// Reports logins to other plugins, whatever the proof was.
import { type Hooks, PanelError } from '../../kernel/index.js';
import { BLOCKED, loginAttempted } from './contract.js';
import { errors } from './errors.js';

export interface ReportedLogin {
  /** blank where it is not known */
  readonly username: string;
  readonly ip: string;
  readonly method: string;
}
const LONGEST_REASON = 300;

export class LoginReports {
  readonly #hooks: Hooks;

  constructor({ hooks }: { hooks: Hooks }) {
    this.#hooks = hooks;
  }

  succeeded(login: ReportedLogin): void {
    this.#report(login, true, '');
  }

  /** Reports nothing for a blank reason: the login was not refused, but could not be checked. */
  failed(login: ReportedLogin, reason: string): void {
    if (reason !== '') this.#report(login, false, reason.slice(0, LONGEST_REASON));
  }

  /** Returns BLOCKED for an attempt that was refused unchecked, else undefined. */
  blocked(error: unknown): string | undefined {
    return error instanceof PanelError && error.code === errors.TOO_MANY_LOGINS.code ? BLOCKED : undefined;
  }

  #report({ username, ip, method }: ReportedLogin, ok: boolean, reason: string): void {
    if (this.#hooks.isUsed(loginAttempted))
      this.#hooks.emit(loginAttempted, { attempts: [{ username, ip, ok, reason, method }] });
  }
}
