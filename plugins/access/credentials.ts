// The admin's own name and password: changed by the admin, or set anew by whoever owns the machine.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  type Database,
  type Log,
  type RequestInfo,
  SESSION_COOKIE,
  type SessionsApi,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Attempts } from './attempts.js';
import { errors } from './errors.js';
import { firstLoginFile, randomName } from './first-login.js';
import type { LoginLimits } from './login-limits.js';
import type { TwoFactor } from './two-factor.js';

export interface NewCredentials {
  readonly oldUsername: string;
  readonly oldPassword: string;
  readonly newUsername: string;
  readonly newPassword: string;
  readonly twoFactorCode?: string;
}

export class Credentials {
  readonly #db: Database;
  readonly #log: Log;
  readonly #dataDirectory: string;
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #limits: LoginLimits;
  readonly #sessions: SessionsApi;
  readonly #twoFactor: TwoFactor;

  constructor(parts: {
    db: Database;
    log: Log;
    dataDirectory: string;
    admins: Admins;
    attempts: Attempts;
    limits: LoginLimits;
    sessions: SessionsApi;
    twoFactor: TwoFactor;
  }) {
    this.#db = parts.db;
    this.#log = parts.log;
    this.#dataDirectory = parts.dataDirectory;
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#limits = parts.limits;
    this.#sessions = parts.sessions;
    this.#twoFactor = parts.twoFactor;
  }

  /** Ends every session; a caller with one gets another, which nobody else can have seen. */
  async change(
    { oldUsername, oldPassword, newUsername, newPassword, twoFactorCode }: NewCredentials,
    { who, ip, signal, cookies, reply }: RequestInfo,
  ): Promise<void> {
    const csrf = this.#sessions.csrfOf(cookies[SESSION_COOKIE]);
    await this.#attempts.run({ ip, username: oldUsername, signal }, async () => {
      const admin = await this.#admins.withPassword(oldUsername, oldPassword);
      if (!admin) throw errors.WRONG_CREDENTIALS(undefined, { path: 'oldPassword' });
      if (this.#twoFactor.isOn && !(await this.#twoFactor.accepts(twoFactorCode)))
        throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
      const passwordHash = await this.#admins.hash(newPassword);
      await this.#db.write(async (tx) => {
        if (!(await this.#admins.change(tx, admin, { username: newUsername, passwordHash })))
          throw errors.WRONG_CREDENTIALS('somebody has just changed them', { path: 'oldPassword' });
        await this.#sessions.closeAll({ tx });
      });
    });
    this.#log.info('name and password of the admin were changed; all sessions are closed', {
      username: newUsername,
      ip,
    });
    if (who?.via !== 'session') return;
    const { id } = await this.#sessions.open(newUsername, csrf);
    reply.cookie(SESSION_COOKIE, id, { maxAge: this.#sessions.lifetime });
  }

  /** For who cannot log in any more: one admin with a new password, no second factor, no session, no block. */
  async reset(name?: string): Promise<{ username: string; password: string }> {
    const username = name ?? randomName();
    const password = randomBytes(15).toString('base64url');
    const passwordHash = await this.#admins.hash(password);
    await this.#db.write(async (tx) => {
      await this.#admins.replaceAll(tx, { username, passwordHash });
      await this.#twoFactor.turnOff(tx);
      await this.#sessions.closeAll({ tx });
    });
    this.#limits.forget();
    await rm(firstLoginFile(this.#dataDirectory), { force: true });
    this.#log.warn(
      'the admin was reset from the command line; all sessions are closed and two-factor is off',
      { username },
    );
    return { username, password };
  }
}
