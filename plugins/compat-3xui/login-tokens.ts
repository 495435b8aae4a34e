// CSRF tokens that a program gets before its login and uses after it. Decision 26 says what keeps others from planting one.
import { createHmac, randomBytes } from 'node:crypto';
import {
  type Clock,
  CSRF_COOKIE,
  kernelErrors,
  type RequestInfo,
  type Route,
  SESSION_COOKIE,
  sameSecret,
  type SessionsApi,
} from '../../kernel/index.js';
import { isBrowser, LOGIN_TOKEN_LENGTH, OLD_COOKIE } from './old-program.js';

/** How long after its issue a token can become that of a session. */
export const TOKEN_LIFE_MS = 10 * 60_000;
const MOST_USED = 10_000;
const TIME_BYTES = 6;
const NONCE_BYTES = 16;
const MAC_BYTES = 20;

type Caller = Pick<RequestInfo, 'ip' | 'headers' | 'cookies'>;

export class LoginTokens {
  readonly #clock: Clock;
  readonly #sessions: SessionsApi;
  /** A restart makes all tokens void. */
  readonly #key = randomBytes(32);
  /** tokens of sessions, with the end of their life */
  readonly #used = new Map<string, number>();

  constructor({ clock, sessions }: { clock: Clock; sessions: SessionsApi }) {
    this.#clock = clock;
    this.#sessions = sessions;
  }

  /** `GET /csrf-token` that gives a program without a session a token of this kind, in both cookies. */
  issuing(route: Route): Route {
    const handle = route.handle as (input: RequestInfo) => unknown;
    return {
      ...route,
      handle: (input: RequestInfo) => {
        if (isBrowser(input.headers) || this.#sessions.csrfOf(input.cookies[SESSION_COOKIE]))
          return handle(input);
        const token = this.#issue(input.ip);
        // A form login looks for ours, and some programs use only the first cookie of a reply.
        input.reply.cookie(CSRF_COOKIE, token, {});
        input.reply.cookie(OLD_COOKIE, token, { maxAge: TOKEN_LIFE_MS });
        return token;
      },
    };
  }

  /** The token for the session that this login opens: the one that the program sent, if it may stay. Each stays once. */
  take({ ip, headers, cookies }: Caller): string | undefined {
    const sent = headers['x-csrf-token'];
    if (typeof sent !== 'string' || isBrowser(headers)) return undefined;
    const ofCaller = [cookies[OLD_COOKIE], cookies[CSRF_COOKIE]].some(
      (cookie) => cookie !== undefined && sameSecret(cookie, sent),
    );
    const end = ofCaller ? this.#endOf(sent, ip) : undefined;
    if (end === undefined || this.#used.has(sent)) return undefined;
    const now = this.#clock.now();
    for (const [token, over] of this.#used) if (over <= now) this.#used.delete(token);
    if (this.#used.size >= MOST_USED) return undefined;
    this.#used.set(sent, end);
    return sent;
  }

  #issue(ip: string): string {
    const body = Buffer.alloc(TIME_BYTES + NONCE_BYTES);
    body.writeUIntBE(this.#clock.now(), 0, TIME_BYTES);
    randomBytes(NONCE_BYTES).copy(body, TIME_BYTES);
    return Buffer.concat([body, this.#mac(body, ip)]).toString('base64url');
  }

  /** When the life of a token ends; undefined if this panel did not issue it to this address, or if it is over. */
  #endOf(token: string, ip: string): number | undefined {
    const bytes = Buffer.from(token, 'base64url');
    if (token.length !== LOGIN_TOKEN_LENGTH || bytes.toString('base64url') !== token) return undefined;
    const body = bytes.subarray(0, TIME_BYTES + NONCE_BYTES);
    const mac = bytes.subarray(TIME_BYTES + NONCE_BYTES);
    if (!sameSecret(mac.toString('hex'), this.#mac(body, ip).toString('hex'))) return undefined;
    const end = body.readUIntBE(0, TIME_BYTES) + TOKEN_LIFE_MS;
    return end > this.#clock.now() ? end : undefined;
  }

  #mac(body: Buffer, ip: string): Buffer {
    return createHmac('sha256', this.#key).update(body).update(ip).digest().subarray(0, MAC_BYTES);
  }
}

/** A GET that changes something: any page can make a browser send one, but none can add this header to it. */
export function requireProgram({ headers, who }: Pick<RequestInfo, 'headers' | 'who'>): void {
  if (who.kind !== 'token' && headers['x-requested-with'] === undefined) throw kernelErrors.CSRF();
}
