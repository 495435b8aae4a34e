// The body of a request: how much of it is read, how it is unpacked, and what it may cost to parse.
import { parse as parseForm } from 'node:querystring';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TimeSlice } from '../schema/time-slice.js';
import { TOO_DEEP } from '../schema/depth.js';
import { JsonScan } from '../schema/json.js';
import { hasUtf8Escapes } from './utf8.js';

const MIB = 1024 * 1024;

/** For people: `16 KiB`, `10 MiB`. */
export const sizeOf = (bytes: number): string =>
  bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${Math.round(bytes / 1024)} KiB`;

/** Makes the error of a body that is refused. */
type MakeError = (message: string, details?: { readonly path?: string; readonly cause?: unknown }) => Error;
/** The errors for the ways in which a body can be wrong: a field that does not fit, more than is taken, not what it says it is, of a kind that is not taken. */
export interface BodyErrors {
  readonly INVALID: MakeError;
  readonly TOO_LARGE: MakeError;
  readonly BAD_BODY: MakeError;
  readonly UNSUPPORTED_BODY: MakeError;
}

export interface BodyRules {
  /** bytes, after it is unpacked */
  readonly limit: number;
  /** see JsonScan */
  readonly separators: number;
  /** takes gzip, deflate and br */
  readonly compressed: boolean;
  readonly errors: BodyErrors;
}

const MOST_FIELDS = 1000;
/** Parsing more than this waits for its turn. */
const WAITS = 64 * 1024;

const INFLATE: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** RFC 8259 and 6839: `application/json`, `application/problem+json`. */
const JSON_TYPE = /^application\/json$|^[\w.-]+\/[\w.-]+\+json$/;

/** The media type of a body in lower case, without parameters; empty where none is named. */
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

  /** Refuses what is too large by its own account, and encodings that are not taken. */
  check(): void {
    const { 'content-length': length, 'content-encoding': encoding = 'identity' } = this.#request.headers;
    const { limit, compressed, errors } = this.#rules;
    if (Number(length) > limit) throw this.#tooLarge();
    if (encoding.toLowerCase() === 'identity') return;
    if (!compressed)
      throw errors.UNSUPPORTED_BODY('this endpoint takes no compressed body; send it as it is');
    if (!Object.hasOwn(INFLATE, encoding.toLowerCase()))
      throw errors.UNSUPPORTED_BODY(
        `Content-Encoding may be gzip, deflate or br, not ${encoding.slice(0, 40)}`,
      );
  }

  /** The fields of a form, or what the JSON says; undefined without a body. It is read once, whoever asks. */
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

  /** Piece by piece: so nothing is done with a body that turns out too large, and no piece takes long. */
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
      // Without end it could unfold to nothing.
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

/** Reads what is left of a body to nowhere: many callers read the reply only when all is sent, so the connection stays open for the rest, whatever they asked. */
export function readOn(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.shouldKeepAlive = true;
}
