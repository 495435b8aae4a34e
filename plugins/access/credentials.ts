// Changes the admin's name and password: by the admin, or with a command by the owner of the machine.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  type Database,
  type Log,
  type Principal,
  type RequestInfo,
  SESSION_COOKIE,
  type SessionsApi,
} from '../../kernel/index.js';
import { type Admins, takenAs } from './admins.js';
import type { Attempts } from './attempts.js';
import type { Callers } from './callers.js';
import type { DeviceCookie } from './device-cookie.js';
import { errors } from './errors.js';
import { firstLoginFile, randomName } from './first-login.js';
import { isFull, type KnownAdmin } from './known-admin.js';
import type { KnownAddresses } from './known-addresses.js';
import type { SecondFactors } from './second-factors.js';
import type { Tokens } from './tokens.js';
import type { TwoFactor } from './two-factor.js';

export interface NewCredentials {
  readonly oldUsername: string;
  readonly oldPassword: string;
  readonly newUsername: string;
  readonly newPassword: string;
  readonly twoFactorCode?: string;
  /** also disables every API token */
  readonly revokeTokens?: boolean;
}
/** API tokens after a change of credentials. */
export interface TokensLeft {
  /** API tokens that still work */
  readonly apiTokens: number;
  /** API tokens that this change disabled */
  readonly revokedTokens: number;
}

export class Credentials {
  readonly #db: Database;
  readonly #log: Log;
  readonly #dataDirectory: string;
  readonly #admins: Admins;
  readonly #attempts: Attempts;
  readonly #addresses: KnownAddresses;
  readonly #devices: DeviceCookie;
  readonly #tokens: Tokens;
  readonly #sessions: SessionsApi;
  readonly #factors: SecondFactors;
  readonly #twoFactor: TwoFactor;
  readonly #callers: Callers;

  constructor(parts: {
    db: Database;
    log: Log;
    dataDirectory: string;
    admins: Admins;
    attempts: Attempts;
    addresses: KnownAddresses;
    devices: DeviceCookie;
    tokens: Tokens;
    sessions: SessionsApi;
    factors: SecondFactors;
    twoFactor: TwoFactor;
    callers: Callers;
  }) {
    this.#db = parts.db;
    this.#log = parts.log;
    this.#dataDirectory = parts.dataDirectory;
    this.#admins = parts.admins;
    this.#attempts = parts.attempts;
    this.#addresses = parts.addresses;
    this.#devices = parts.devices;
    this.#tokens = parts.tokens;
    this.#sessions = parts.sessions;
    this.#factors = parts.factors;
    this.#twoFactor = parts.twoFactor;
    this.#callers = parts.callers;
  }

  /** Closes every session of the admin; a caller with a session gets a new one, which nobody else can have seen. */
  async change(
    { oldUsername, oldPassword, newUsername, newPassword, twoFactorCode, revokeTokens }: NewCredentials,
    { who, ip, signal, cookies, headers, reply }: RequestInfo,
  ): Promise<TokensLeft> {
    const isLimited = this.#callers.isLimited(who);
    // Another name would hide who did what, and might be that of somebody else.
    if (isLimited && (who.kind !== 'session' || who.name !== oldUsername || newUsername !== oldUsername))
      throw errors.OWN_ACCOUNT(undefined, { path: 'newUsername' });
    const maker = isLimited ? this.#callers.adminOf(who) : undefined;
    const csrf = this.#sessions.csrfOf(cookies[SESSION_COOKIE]);
    let revokedTokens = 0;
    const guesser = { ip, username: oldUsername, cookies, isAuthenticated: true, signal };
    await this.#attempts.run(guesser, async (attempt) => {
      const admin = await this.#admins.withPassword(oldUsername, oldPassword, attempt);
      if (!admin) throw errors.WRONG_CREDENTIALS(undefined, { path: 'oldPassword' });
      if (!(await this.#twoFactor.passes(admin.id, twoFactorCode))) {
        attempt.wrongCode();
        throw errors.WRONG_CODE(undefined, { path: 'twoFactorCode' });
      }
      const passwordHash = await this.#admins.hash(newPassword);
      await this.#db.write(async (tx) => {
        const to = { username: newUsername, passwordHash };
        const isChanged = await this.#admins.change(tx, admin, to, who).catch((error: unknown) => {
          throw takenAs('newUsername', error);
        });
        if (!isChanged)
          throw errors.WRONG_CREDENTIALS(
            'another call has just changed name or password; try again with the new ones',
            { path: 'oldPassword' },
          );
        if (revokeTokens) revokedTokens = await this.#tokens.disableAll(tx, who, maker);
        await this.#sessions.closeAll({ of: admin.username, tx });
      });
    });
    this.#log.info('name and password of an admin were changed; the sessions of that admin are closed', {
      username: newUsername,
      ip,
      revokedTokens,
    });
    if (who.kind === 'session') {
      const { id } = await this.#sessions.open(newUsername, csrf, { ip, userAgent: headers['user-agent'] });
      reply.cookie(SESSION_COOKIE, id, { maxAge: this.#sessions.longest });
      this.#devices.set({ cookies, reply });
    }
    return { apiTokens: this.#tokens.list(maker).filter(({ enabled }) => enabled).length, revokedTokens };
  }

  /** Restores access for an owner who cannot log in: one admin with a new password, no second factor, no sessions, no blocks. */
  async reset(name: string | undefined, who: Principal): Promise<{ username: string; password: string }> {
    const username = name ?? randomName();
    const password = randomBytes(15).toString('base64url');
    const passwordHash = await this.#admins.hash(password);
    await this.#db.write(async (tx) => {
      const before = await this.#admins.read(tx);
      // Tokens of full admins go on, as those of one admin do; those of others had less than the new one has.
      const idsOf = (admins: readonly KnownAdmin[]) => admins.map(({ id }) => id);
      await this.#factors.forget(tx, idsOf(before), who);
      await this.#tokens.release(tx, idsOf(before.filter(isFull)));
      await this.#tokens.deleteOf(tx, idsOf(before.filter((admin) => !isFull(admin))), who);
      await this.#admins.replaceAll(tx, { username, passwordHash }, who);
      await this.#sessions.closeAll({ tx });
      await this.#addresses.forget(tx);
      await this.#devices.replaceKey(tx);
    });
    await this.#attempts.forget();
    await rm(firstLoginFile(this.#dataDirectory), { force: true });
    this.#log.warn(
      'the admin was reset from the command line; all sessions are closed and two-factor is off',
      { username },
    );
    return { username, password };
  }
}
