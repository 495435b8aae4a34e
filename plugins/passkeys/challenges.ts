// Challenges that only one browser can answer, and once. What a challenge is made of is in a cookie, so any panel of the
// database can check it, and callers without a login store nothing here.
import { createHmac, hash, randomBytes } from 'node:crypto';
import type { Clock, Database, Log, RequestInfo, Tx } from '../../kernel/index.js';
import { Op } from 'sequelize';
import { GeneratedSecret, type SecretsApi } from '../secrets/contract.js';
import { errors } from './errors.js';
import { type PasskeyTables, sealedSecrets } from './tables.js';

export const CHALLENGE_COOKIE = 'weir_passkey';
export const LIFETIME_MS = 5 * 60_000;
const NAME = 'challenges';
/** Unix ms at which it expires, random text */
const FORM = /^(\d{1,15})\.([\w-]{43})$/;

export interface Challenge {
  /** 32 bytes in base64url */
  readonly text: string;
  /** Unix ms */
  readonly expiresAt: number;
}

export class Challenges {
  readonly #tables: PasskeyTables;
  readonly #clock: Clock;
  readonly #secret: GeneratedSecret;

  constructor(needs: { db: Database; tables: PasskeyTables; secrets: SecretsApi; clock: Clock; log: Log }) {
    this.#tables = needs.tables;
    this.#clock = needs.clock;
    this.#secret = new GeneratedSecret(needs, sealedSecrets, NAME);
  }

  /** Makes a challenge for this browser; `subject` is who may answer it, and for what. */
  async make(subject: string, { reply }: Pick<RequestInfo, 'reply'>): Promise<string> {
    await this.#secret.make();
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
    if (left <= 0 || left > LIFETIME_MS || this.#secret.value === '') throw errors.STALE();
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
    return createHmac('sha256', this.#secret.value).update(text).digest();
  }
}
