// Reads the body of a request: limits its size, decompresses it, and bounds the cost of parsing.
import { parse as parseForm } from 'node:querystring';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TimeSlice } from '../schema/time-slice.js';
import { TOO_DEEP } from '../schema/depth.js';
import { JsonScan } from '../schema/json.js';
import { hasUtf8Escapes } from './utf8.js';

const MIB = 1024 * 1024;

/** Text for messages: `16 KiB`, `10 MiB`. */
export const sizeOf = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${Math.round(bytes / 1024)} KiB`;

/** Creates the error of a refused body. */
type MakeError = (message: string, details?: { readonly path?: string; readonly cause?: unknown }) => Error;
/** The errors for a body: a field that does not fit, too large, not what it claims to be, an unsupported type. */
export interface BodyErrors {
  readonly INVALID: MakeError;
  readonly TOO_LARGE: MakeError;
  readonly BAD_BODY: MakeError;
  readonly UNSUPPORTED_BODY: MakeError;
}

export interface BodyRules {
  /** bytes after decompression */
  readonly limit: number;
  /** see JsonScan */
  readonly separators: number;
  /** whether gzip, deflate and br are accepted */
  readonly compressed: boolean;
  readonly errors: BodyErrors;
}

const MOST_FIELDS = 1000;
/** Larger bodies queue for parsing. */
const WAITS = 64 * 1024;

const INFLATE: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** RFC 8259 and 6839: `application/json`, `application/problem+json`. */
const JSON_TYPE = /^application\/json$|^[\w.-]+\/[\w.-]+\+json$/;

/** The media type of a body in lower case, without parameters; empty where the header is missing. */
export const mediaTypeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export class RequestBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #rules: BodyRules;
  #value: Promise<unknown> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, rules: BodyRules) {
    this.#request = request;
    this.#response = response;
    this.#rules = rules;
  }

  get isForm(): boolean {
    return mediaTypeOf(this.#request) === 'application/x-www-form-urlencoded';
  }

  get #isEmpty(): boolean {
    const { 'content-length': length, 'transfer-encoding': transfer } = this.#request.headers;
    return transfer === undefined && (length === undefined || length === '0');
  }

  /** Rejects a body whose headers announce too many bytes or an unsupported encoding. */
  check(): void {
    const { 'content-length': length, 'content-encoding': encoding = 'identity' } = this.#request.headers;
    const { limit, compressed, errors } = this.#rules;
    if (Number(length) > limit) throw this.#tooLarge();
    if (encoding.toLowerCase() === 'identity') return;
    if (!compressed)
      throw errors.UNSUPPORTED_BODY('this endpoint does not accept a compressed body; send it uncompressed');
    if (!Object.hasOwn(INFLATE, encoding.toLowerCase()))
      throw errors.UNSUPPORTED_BODY(
        `Content-Encoding may be gzip, deflate or br, not ${encoding.slice(0, 40)}`,
      );
  }

  /** The fields of a form, or the parsed JSON; undefined without a body. Repeated calls return the same result. */
  read(): Promise<unknown> {
    return (this.#value ??= this.#read().catch((error: unknown) => {
      readOn(this.#request, this.#response);
      throw error;
    }));
  }

  async #read(): Promise<unknown> {
    const { errors } = this.#rules;
    if (this.#isEmpty) return undefined;
    const { isForm } = this;
    const type = this.#request.headers['content-type'];
    if (!isForm && !JSON_TYPE.test(mediaTypeOf(this.#request)))
      throw errors.UNSUPPORTED_BODY(
        `this endpoint takes JSON, not ${type?.slice(0, 100) ?? 'a body without content-type'}`,
      );
    const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type ?? '')?.[1] ?? 'utf-8';
    if (!/^(?:utf-?8|us-ascii)$/i.test(charset))
      throw errors.UNSUPPORTED_BODY(`the charset of a body must be UTF-8, not ${charset.slice(0, 40)}`);
    this.check();
    const text = await this.#text(isForm);
    if (text.length <= WAITS) return isForm ? this.#fields(text) : this.#json(text);
    const slice = new TimeSlice();
    await slice.next();
    const value = isForm ? this.#fields(text) : this.#json(text);
    await slice.next();
    return value;
  }

  /** Reads piece by piece, so that a body that turns out too large costs nothing more and no piece takes long. */
  async #text(isForm: boolean): Promise<string> {
    const { limit, separators, errors } = this.#rules;
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const scan = new JsonScan(separators);
    let text = '';
    let size = 0;
    try {
      for await (const chunk of this.#bytes()) {
        size += chunk.length;
        if (size > limit) throw this.#tooLarge();
        const problem = isForm ? undefined : scan.take(chunk);
        if (problem === TOO_DEEP) throw errors.BAD_BODY(`the body ${problem}`);
        if (problem !== undefined) throw errors.TOO_LARGE(`the body ${problem}`);
        text += decoder.decode(chunk, { stream: true });
      }
      return text + decoder.decode();
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
        throw errors.BAD_BODY('the body is not valid UTF-8', { cause });
      throw cause;
    }
  }

  async *#bytes(): AsyncGenerator<Buffer> {
    const request = this.#request;
    const { limit, errors } = this.#rules;
    const inflate = INFLATE[(request.headers['content-encoding'] ?? '').toLowerCase()]?.();
    const source: Readable = inflate ?? request;
    let sent = 0;
    if (inflate) {
      // Without the end of the stream, decompression could finish with nothing.
      request.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (sent > limit) inflate.destroy(this.#tooLarge());
      });
      const cutOff = () => request.readableEnded || inflate.destroy(new Error('it was cut off'));
      if (request.destroyed) cutOff();
      request.once('close', cutOff);
      request.pipe(inflate);
    }
    try {
      yield* source.iterator({ destroyOnReturn: inflate !== undefined }) as AsyncIterable<Buffer>;
    } catch (cause) {
      if (sent > limit) throw cause;
      throw errors.BAD_BODY(`the body could not be read: ${String((cause as Error).message)}`, { cause });
    } finally {
      if (inflate) request.unpipe(inflate);
    }
  }

  #tooLarge(): Error {
    const { limit, errors } = this.#rules;
    return errors.TOO_LARGE(`the body is larger than the ${sizeOf(limit)} that this endpoint takes`);
  }

  #json(text: string): unknown {
    if (text === '') return {};
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw this.#rules.errors.BAD_BODY(`the body is not valid JSON: ${(cause as Error).message}`, { cause });
    }
  }

  #fields(text: string): unknown {
    const { BAD_BODY } = this.#rules.errors;
    if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS)
      throw BAD_BODY(`the form has more than ${MOST_FIELDS} fields`);
    if (!hasUtf8Escapes(text)) throw BAD_BODY('the body is not valid UTF-8');
    return parseForm(text, '&', '=', { maxKeys: 0 });
  }
}

/** Discards the rest of a body. Many callers read the reply only after they have sent everything, so the connection stays open for it. */
export function readOn(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.shouldKeepAlive = true;
}
