// Challenges that only one browser can answer, and once. What a challenge is made of is in a cookie, so any panel of the
// database can check it, and callers without a login store nothing here.
import { createHmac, hash, randomBytes } from 'node:crypto';
import {
  type Clock,
  type Database,
  kernelErrors,
  PanelError,
  type Projection,
  type RequestInfo,
  type Tx,
} from '../../kernel/index.js';
import { Op } from 'sequelize';
import type { SecretsApi } from '../secrets/contract.js';
import { errors } from './errors.js';
import { type PasskeyTables, sealedSecrets } from './tables.js';

export const CHALLENGE_COOKIE = 'weir_passkey';
export const LIFETIME_MS = 5 * 60_000;
const NAME = 'challenges';
const MOST_ATTEMPTS = 5;
/** Unix ms at which it expires, random text */
const FORM = /^(\d{1,15})\.([\w-]{43})$/;

export interface Challenge {
  /** 32 bytes in base64url */
  readonly text: string;
  /** Unix ms */
  readonly expiresAt: number;
}

export class Challenges {
  readonly #db: Database;
  readonly #tables: PasskeyTables;
  readonly #secrets: SecretsApi;
  readonly #clock: Clock;
  readonly #secret: Projection<{ value: string }, string>;

  constructor(needs: { db: Database; tables: PasskeyTables; secrets: SecretsApi; clock: Clock }) {
    this.#db = needs.db;
    this.#tables = needs.tables;
    this.#secrets = needs.secrets;
    this.#clock = needs.clock;
    this.#secret = needs.db.projection<{ value: string }, string>({
      load: async () => ({ value: (await this.#stored()) ?? '' }),
      apply: (state, value) => void (state.value = value),
    });
  }

  /** Makes the secret when the first challenge needs it: a panel without passkeys has nothing that a lost key would cost. */
  async #ready(): Promise<void> {
    for (let attempt = 1; this.#secret.state.value === ''; attempt++)
      try {
        await this.#make();
      } catch (error) {
        // Another panel of the database started at the same moment, and has made it.
        const isBusy = error instanceof PanelError && error.code === kernelErrors.DATABASE_BUSY.code;
        if (!isBusy || attempt === MOST_ATTEMPTS) throw error;
      }
  }

  async #make(): Promise<void> {
    await this.#db.write(async (tx) => {
      let value = await this.#stored(tx);
      if (value === undefined) {
        value = randomBytes(32).toString('base64url');
        const sealed = this.#secrets.seal(sealedSecrets, NAME, value);
        await this.#tables.secrets.create({ name: NAME, value: sealed }, { transaction: tx.t });
      }
      tx.apply(this.#secret, value);
    });
  }

  async #stored(tx?: Tx): Promise<string | undefined> {
    const row = await this.#tables.secrets.findByPk(NAME, { raw: true, transaction: tx?.t ?? null });
    const sealed = (row as unknown as { value: string } | null)?.value;
    return sealed === undefined ? undefined : this.#secrets.open(sealedSecrets, NAME, sealed);
  }

  /** Makes a challenge for this browser; `subject` is who may answer it, and for what. */
  async make(subject: string, { reply }: Pick<RequestInfo, 'reply'>): Promise<string> {
    await this.#ready();
    const expiresAt = this.#clock.now() + LIFETIME_MS;
    const cookie = `${expiresAt}.${randomBytes(32).toString('base64url')}`;
    reply.cookie(CHALLENGE_COOKIE, cookie, { maxAge: LIFETIME_MS });
    return this.#textOf(subject, cookie);
  }

  /** Takes the challenge of this browser. Throws STALE without one. */
  take(subject: string, { cookies, reply }: Pick<RequestInfo, 'cookies' | 'reply'>): Challenge {
    const cookie = cookies[CHALLENGE_COOKIE] ?? '';
    reply.clearCookie(CHALLENGE_COOKIE);
    const expiresAt = Number(FORM.exec(cookie)?.[1] ?? 0);
    const left = expiresAt - this.#clock.now();
    if (left <= 0 || left > LIFETIME_MS || this.#secret.state.value === '') throw errors.STALE();
    return { text: this.#textOf(subject, cookie), expiresAt };
  }

  /** Marks a challenge as answered, in the write that the answer leads to. Throws STALE for one that was answered before. */
  async spend(tx: Tx, { text, expiresAt }: Challenge): Promise<void> {
    const { answered } = this.#tables;
    const digest = hash('sha256', text);
    await answered.destroy({
      where: { expiresAt: { [Op.lt]: this.#clock.now() - LIFETIME_MS } },
      transaction: tx.t,
    });
    if (await answered.findByPk(digest, { transaction: tx.t })) throw errors.STALE();
    await answered.create({ digest, expiresAt }, { transaction: tx.t });
  }

  /** 32 bytes by which an authenticator knows an admin at a place, and which tell nobody else who it is. */
  handleOf(adminId: number, origin: string): Buffer {
    return this.#mac(`handle ${adminId} ${origin}`);
  }

  #textOf(subject: string, cookie: string): string {
    return this.#mac(`challenge ${cookie} ${subject}`).toString('base64url');
  }

  #mac(text: string): Buffer {
    return createHmac('sha256', this.#secret.state.value).update(text).digest();
  }
}
