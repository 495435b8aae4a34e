// A login under way: what only this browser may finish, sealed in a cookie. So any panel of a cluster can finish it, and
// anonymous callers store nothing here.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Clock, Database, Log, RequestInfo } from '../../kernel/index.js';
import { GeneratedSecret, type SecretsApi } from '../secrets/contract.js';
import { errors } from './errors.js';
import { sealedKeys } from './tables.js';

export const PENDING_COOKIE = 'weir_openid';
const LIFETIME_MS = 10 * 60_000;
const KEY_NAME = 'pending';
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Browsers store at most 4 KiB. */
const LONGEST_COOKIE = 4096;
/** A text that was sealed for another purpose, or in another form, does not open. */
const PURPOSE = Buffer.from('weir openid pending login 1');

/** `verifier` is that of PKCE; `link` is there for an account that is to be linked: to this admin, by this session. */
export interface PendingLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly issuer: string;
  readonly clientId: string;
  /** where the page goes after the login; the page checks it */
  readonly returnTo: string;
  readonly link?: { readonly admin: number; readonly session: string } | undefined;
}

const bytesOf = (key: string): Buffer => Buffer.from(key, 'base64url');

export class PendingLogins {
  readonly #clock: Clock;
  readonly #key: GeneratedSecret;

  constructor(needs: { db: Database; secrets: SecretsApi; clock: Clock; log: Log }) {
    this.#clock = needs.clock;
    this.#key = new GeneratedSecret(needs, sealedKeys, KEY_NAME);
  }

  /** Puts a login into the browser. One that was under way there is over. */
  async put(pending: PendingLogin, reply: RequestInfo['reply']): Promise<void> {
    const key = bytesOf(await this.#key.make());
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(PURPOSE);
    const plain = JSON.stringify({ ...pending, at: this.#clock.now() });
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    reply.cookie(PENDING_COOKIE, sealed.toString('base64url'), { maxAge: LIFETIME_MS });
  }

  /** Takes the login out of the browser: it can be finished once. Throws STALE where there is none, or only an old one. */
  take({ cookies, reply }: Pick<RequestInfo, 'cookies' | 'reply'>): PendingLogin {
    reply.clearCookie(PENDING_COOKIE);
    const found = this.#open(cookies[PENDING_COOKIE] ?? '');
    const age = found ? this.#clock.now() - found.at : LIFETIME_MS;
    if (!found || age < 0 || age >= LIFETIME_MS) throw errors.STALE();
    return found;
  }

  #open(cookie: string): (PendingLogin & { readonly at: number }) | undefined {
    if (cookie === '' || cookie.length > LONGEST_COOKIE) return undefined;
    const sealed = Buffer.from(cookie, 'base64url');
    if (sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const opener = createDecipheriv(ALGORITHM, bytesOf(this.#key.value), sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      opener.setAAD(PURPOSE).setAuthTag(sealed.subarray(-TAG_BYTES));
      const plain = Buffer.concat([opener.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), opener.final()]);
      return JSON.parse(plain.toString('utf8')) as PendingLogin & { readonly at: number };
    } catch {
      // Of another panel, from before a restore, or not ours at all.
      return undefined;
    }
  }
}
