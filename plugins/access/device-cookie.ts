// Recognises a browser that has logged in before by a signed cookie, which gives no access: its failures are counted
// separately from those of strangers. See OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
import { createHmac, randomBytes } from 'node:crypto';
import {
  type Clock,
  type Database,
  type Projection,
  type RequestInfo,
  sameSecret,
  type Tx,
} from '../../kernel/index.js';
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
  /** the key that signs; empty before the first start */
  readonly projection: Projection<{ key: string }, string>;

  constructor({ db, tables: { keys }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = keys;
    this.#clock = clock;
    this.projection = db.projection<{ key: string }, string>({
      load: async () => {
        const row = await this.#rows.findByPk(KEY_NAME, { raw: true });
        return { key: (row as unknown as { value: string } | null)?.value ?? '' };
      },
      apply: (state, key) => void (state.key = key),
    });
  }

  /** Makes the first key. */
  async start(): Promise<void> {
    if (this.projection.state.key === '') await this.#db.write((tx) => this.replaceKey(tx));
  }

  /** Returns the random id of the device that logged in with this cookie; undefined if the cookie is missing, forged or a year old. */
  idOf(cookies: Cookies): string | undefined {
    const [, id, at, signature] = FORM.exec(cookies[DEVICE_COOKIE] ?? '') ?? [];
    if (id === undefined || at === undefined || signature === undefined) return undefined;
    const isOurs = sameSecret(signature, this.#sign(id, at));
    return isOurs && Number(at) > this.#clock.now() - KNOWN_MS ? id : undefined;
  }

  /** Sets the cookie after a successful login; a known device keeps its id. */
  set({ cookies, reply }: Pick<RequestInfo, 'cookies' | 'reply'>): void {
    const id = this.idOf(cookies) ?? randomBytes(16).toString('base64url');
    const at = String(this.#clock.now());
    reply.cookie(DEVICE_COOKIE, `${id}.${at}.${this.#sign(id, at)}`, { maxAge: KNOWN_MS });
  }

  /** Makes every device unknown. */
  async replaceKey(tx: Tx): Promise<void> {
    const value = randomBytes(32).toString('base64url');
    await this.#rows.upsert({ name: KEY_NAME, value }, { transaction: tx.t });
    tx.apply(this.projection, value);
  }

  #sign(id: string, at: string): string {
    return createHmac('sha256', this.projection.state.key).update(`${id}.${at}`).digest('base64url');
  }
}
