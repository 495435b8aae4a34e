// Bodies of central panels, which say the SHA-256 of what they send: one that was cut or changed on the way is refused.
import { createHash, type Hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { kernelErrors, type RequestInfo } from '../../kernel/index.js';

export const HASH_HEADER = 'x-config-sha256';
/** Of a route that reads no body. */
const MOST_UNREAD = 64 * 1024;

export class BodyHashes {
  /** by the headers of a request, which its handler sees as well */
  readonly #hashes = new WeakMap<object, { readonly request: IncomingMessage; readonly hash: Hash }>();

  readonly #checked = new WeakSet<object>();

  /** Call it before the body is read. */
  watch(request: IncomingMessage): void {
    if (request.headers[HASH_HEADER] === undefined) return;
    const hash = createHash('sha256');
    // A listener would start the stream, and its reader is not there yet.
    request.pause();
    request.on('data', (chunk: Buffer) => hash.update(chunk));
    this.#hashes.set(request.headers, { request, hash });
  }

  /** Rejects with a 400 when the body is another one, and with a 415 when it was sent compressed. */
  async require({ headers }: Pick<RequestInfo, 'headers'>): Promise<void> {
    const sent = headers[HASH_HEADER];
    if (sent === undefined || this.#checked.has(headers)) return;
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = headers;
    if (encoding.toLowerCase() !== 'identity')
      throw kernelErrors.UNSUPPORTED_BODY(
        `Content-Encoding ${encoding.slice(0, 40)} is not accepted with X-Config-Sha256`,
      );
    const known = this.#hashes.get(headers);
    if (!known) throw kernelErrors.BAD_BODY('X-Config-Sha256 goes with an API token or a certificate only');
    const { request, hash } = known;
    if (!request.readableEnded && length !== '0') {
      if (Number(length) > MOST_UNREAD) throw kernelErrors.TOO_LARGE('this endpoint takes no body');
      request.resume();
      await once(request, 'end');
    }
    this.#hashes.delete(headers);
    const told = Buffer.from(String(sent).toLowerCase());
    const own = Buffer.from(hash.digest('hex'));
    if (told.length !== own.length || !timingSafeEqual(told, own))
      throw kernelErrors.BAD_BODY('the body is not the one of X-Config-Sha256; send it again');
    this.#checked.add(headers);
  }
}
