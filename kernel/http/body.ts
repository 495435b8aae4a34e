// The body of a request: how much of it is read, how it is unpacked, and what it may cost to parse.
import { parse as parseForm } from 'node:querystring';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request } from 'express';
import { kernelErrors, messageOf } from '../errors/errors.js';
import { TimeSlice } from '../jobs/time-slice.js';
import { TOO_DEEP } from '../schema/depth.js';
import { JsonScan, MOST_SEPARATORS } from '../schema/json.js';
import { requireUtf8Escapes } from './utf8.js';
import { LARGE_BODY, PUBLIC_BODY, type Route, sizeOf } from './route.js';

/** Separators (see JsonScan) in a body where no list of thousands of objects is taken. */
const USUAL_SEPARATORS = 20_000;
/** Without a login: names, passwords and codes. */
const PUBLIC_SEPARATORS = 1000;
const MOST_FIELDS = 1000;
/** Parsing more than this waits for its turn. */
const WAITS = 64 * 1024;

const INFLATE: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export class RequestBody {
  readonly #request: Request;
  readonly #limit: number;
  readonly #isPublic: boolean;
  #value: Promise<unknown> | undefined;

  constructor(request: Request, { auth, body, bodyLimit }: Pick<Route, 'auth' | 'body' | 'bodyLimit'>) {
    this.#request = request;
    this.#isPublic = auth === 'anyone';
    this.#limit = body ? bodyLimit : PUBLIC_BODY;
  }

  get isForm(): boolean {
    return Boolean(this.#request.is('urlencoded'));
  }

  get #mostSeparators(): number {
    if (this.#isPublic) return PUBLIC_SEPARATORS;
    return this.#limit < LARGE_BODY ? USUAL_SEPARATORS : MOST_SEPARATORS;
  }

  /** Refuses what is too large by its own account, and encodings that are not taken. */
  check(): void {
    const { 'content-length': length, 'content-encoding': encoding = 'identity' } = this.#request.headers;
    if (Number(length) > this.#limit) throw this.#tooLarge();
    if (encoding.toLowerCase() === 'identity') return;
    if (this.#isPublic)
      throw kernelErrors.UNSUPPORTED_BODY('this endpoint takes no compressed body; send it as it is');
    if (!Object.hasOwn(INFLATE, encoding.toLowerCase()))
      throw kernelErrors.UNSUPPORTED_BODY(
        `Content-Encoding may be gzip, deflate or br, not ${encoding.slice(0, 40)}`,
      );
  }

  /** The fields of a form, or what the JSON says; undefined without a body. It is read once, whoever asks. */
  read(): Promise<unknown> {
    return (this.#value ??= this.#read().catch((error: unknown) => {
      // Many callers read the reply only when all is sent: the connection stays open for the rest, whatever they asked.
      this.#request.resume();
      if (this.#request.res) this.#request.res.shouldKeepAlive = true;
      throw error;
    }));
  }

  async #read(): Promise<unknown> {
    const {
      'content-length': length,
      'transfer-encoding': transfer,
      'content-type': type,
    } = this.#request.headers;
    if (transfer === undefined && (length === undefined || length === '0')) return undefined;
    const { isForm } = this;
    if (!isForm && !this.#request.is(['json', '+json']))
      throw kernelErrors.UNSUPPORTED_BODY(
        `this endpoint takes JSON, not ${type?.slice(0, 100) ?? 'a body without content-type'}`,
      );
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type ?? '')?.[1] ?? 'utf-8';
    if (!/^(?:utf-?8|us-ascii)$/i.test(charset))
      throw kernelErrors.UNSUPPORTED_BODY(`the charset of a body must be UTF-8, not ${charset.slice(0, 40)}`);
    this.check();
    const text = await this.#text(isForm);
    if (text.length <= WAITS) return isForm ? fields(text) : json(text);
    const slice = new TimeSlice();
    await slice.next();
    const value = isForm ? fields(text) : json(text);
    await slice.next();
    return value;
  }

  /** Piece by piece: so nothing is done with a body that turns out too large, and no piece takes long. */
  async #text(isForm: boolean): Promise<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const scan = new JsonScan(this.#mostSeparators);
    let text = '';
    let size = 0;
    try {
      for await (const chunk of this.#bytes()) {
        size += chunk.length;
        if (size > this.#limit) throw this.#tooLarge();
        const problem = isForm ? undefined : scan.take(chunk);
        if (problem === TOO_DEEP) throw kernelErrors.BAD_BODY(`the body ${problem}`);
        if (problem !== undefined) throw kernelErrors.TOO_LARGE(`the body ${problem}`);
        text += decoder.decode(chunk, { stream: true });
      }
      return text + decoder.decode();
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
        throw kernelErrors.BAD_BODY('the body is not valid UTF-8', { cause });
      throw cause;
    }
  }

  async *#bytes(): AsyncGenerator<Buffer> {
    const request = this.#request;
    const inflate = INFLATE[(request.headers['content-encoding'] ?? '').toLowerCase()]?.();
    const source: Readable = inflate ?? request;
    let sent = 0;
    if (inflate) {
      // Without end it could unfold to nothing.
      request.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (sent > this.#limit) inflate.destroy(this.#tooLarge());
      });
      request.once('close', () => request.complete || inflate.destroy(new Error('it was cut off')));
      request.pipe(inflate);
    }
    try {
      yield* source.iterator({ destroyOnReturn: inflate !== undefined }) as AsyncIterable<Buffer>;
    } catch (cause) {
      if (sent > this.#limit) throw cause;
      throw kernelErrors.BAD_BODY(`the body could not be read: ${messageOf(cause)}`, { cause });
    } finally {
      if (inflate) request.unpipe(inflate);
    }
  }

  #tooLarge() {
    return kernelErrors.TOO_LARGE(
      `the body is larger than the ${sizeOf(this.#limit)} that this endpoint takes`,
    );
  }
}

function json(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw kernelErrors.BAD_BODY(`the body is not valid JSON: ${messageOf(cause)}`, { cause });
  }
}

function fields(text: string): unknown {
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS)
    throw kernelErrors.BAD_BODY(`the form has more than ${MOST_FIELDS} fields`);
  requireUtf8Escapes(text);
  return parseForm(text, '&', '=', { maxKeys: 0 });
}
