// Recognises a browser that has logged in before by a signed cookie, which opens nothing: its failures are counted apart
// from those of strangers. See OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, type Database, type RequestInfo, sameSecret, type Tx } from '../../kernel/index.js';
import type { AccessTables } from './tables.js';

export const DEVICE_COOKIE = 'weir_device';
const KNOWN_MS = 365 * 86_400_000;
const KEY_NAME = 'device cookie';
/** random id, Unix ms of the last login, HMAC-SHA-256 of both */
const FORM = /^([\w-]{22})\.(\d{1,15})\.([\w-]{43})$/;

type Cookies = RequestInfo['cookies'];

export class DeviceCookie {
  readonly #db: Database;
  readonly #rows: AccessTables['keys'];
  readonly #clock: Clock;
  #key = '';

  constructor({ db, tables: { keys }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = keys;
    this.#clock = clock;
  }

  /** Reads the key, or makes the first one. */
  async load(): Promise<void> {
    let key = await this.#read();
    if (key === undefined) {
      await this.#db.write((tx) => this.replaceKey(tx));
      key = await this.#read();
    }
    if (key === undefined) throw new Error('the key of device cookies could not be written');
    this.#key = key;
  }

  /** Random id of the device whose login made this cookie; undefined for a cookie that is missing, forged or a year old. */
  idOf(cookies: Cookies): string | undefined {
    const [, id, at, signature] = FORM.exec(cookies[DEVICE_COOKIE] ?? '') ?? [];
    if (id === undefined || at === undefined || signature === undefined) return undefined;
    const isOurs = sameSecret(signature, this.#sign(id, at));
    return isOurs && Number(at) > this.#clock.now() - KNOWN_MS ? id : undefined;
  }

  /** After a successful login; a device that is known keeps its id. */
  set({ cookies, reply }: Pick<RequestInfo, 'cookies' | 'reply'>): void {
    const id = this.idOf(cookies) ?? randomBytes(16).toString('base64url');
    const at = String(this.#clock.now());
    reply.cookie(DEVICE_COOKIE, `${id}.${at}.${this.#sign(id, at)}`, { maxAge: KNOWN_MS });
  }

  /** Makes every device a stranger; call `load` after the commit. */
  async replaceKey(tx: Tx): Promise<void> {
    const value = randomBytes(32).toString('base64url');
    await this.#rows.upsert({ name: KEY_NAME, value }, { transaction: tx.t });
  }

  async #read(): Promise<string | undefined> {
    const row = (await this.#rows.findOne({ where: { name: KEY_NAME }, raw: true })) as unknown as {
      value: string;
    } | null;
    return row?.value;
  }

  #sign(id: string, at: string): string {
    return createHmac('sha256', this.#key).update(`${id}.${at}`).digest('base64url');
  }
}
