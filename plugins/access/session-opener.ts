// Opens the session of an admin who has just proved who it is, by whatever proof.
import {
  CSRF_COOKIE,
  type Hooks,
  type RequestInfo,
  SESSION_COOKIE,
  type SessionsApi,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import { sessionToken } from './contract.js';
import type { DeviceCookie } from './device-cookie.js';
import type { Admin } from './known-admin.js';
import type { KnownAddresses } from './known-addresses.js';
import type { LoginReports } from './login-reports.js';

export interface Proof {
  readonly method: string;
  /** The name to report: as it was typed, where it was. */
  readonly username: string;
  /** Asked when the session is open: whether the proof would still be accepted. */
  readonly holds: () => boolean | Promise<boolean>;
}

export class SessionOpener {
  readonly #admins: Admins;
  readonly #sessions: SessionsApi;
  readonly #hooks: Hooks;
  readonly #addresses: KnownAddresses;
  readonly #devices: DeviceCookie;
  readonly #reports: LoginReports;

  constructor(parts: {
    admins: Admins;
    sessions: SessionsApi;
    hooks: Hooks;
    addresses: KnownAddresses;
    devices: DeviceCookie;
    reports: LoginReports;
  }) {
    this.#admins = parts.admins;
    this.#sessions = parts.sessions;
    this.#hooks = parts.hooks;
    this.#addresses = parts.addresses;
    this.#devices = parts.devices;
    this.#reports = parts.reports;
  }

  /** Sets the cookies of the session and of the device. Returns false, and leaves nothing open, if the admin was changed during this login, or the proof no longer counts. */
  async open(admin: Admin, { method, username, holds }: Proof, request: RequestInfo): Promise<boolean> {
    const { ip, headers, cookies, reply } = request;
    const token = await this.#hooks.choose(sessionToken, { ip, headers, cookies });
    const { id, session } = await this.#sessions.open(admin.username, token, {
      ip,
      userAgent: headers['user-agent'],
    });
    // Asked only now: the change has closed all sessions that were open by then.
    if (!(await this.#stillCounts(admin, holds, session.digest))) return false;
    await this.#addresses.remember(ip);
    this.#reports.succeeded({ username, ip, method });
    reply.cookie(SESSION_COOKIE, id, { maxAge: this.#sessions.longest });
    reply.clearCookie(CSRF_COOKIE);
    this.#devices.set({ cookies, reply });
    return true;
  }

  async #stillCounts(admin: Admin, holds: Proof['holds'], digest: string): Promise<boolean> {
    let counts = false;
    try {
      counts = (await holds()) && (await this.#admins.isUnchanged(admin));
      return counts;
    } finally {
      if (!counts) await this.#sessions.close(digest);
    }
  }
}
