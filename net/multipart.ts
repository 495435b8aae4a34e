// A body of multipart/form-data (RFC 7578): texts, and files that are written to a private folder as they arrive.
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { type BodyErrors, mediaTypeOf, readOn, sizeOf } from './body.js';
import { baseName } from './file-name.js';

/** An uploaded file. It is deleted when the request is answered; rename or copy it to keep it. */
export interface UploadedFile {
  /** the sender's name for it: without a path, invisible characters or line breaks, never empty. Do not trust it for more than display. */
  readonly name: string;
  /** media type, as the sender claims */
  readonly mediaType: string;
  /** bytes */
  readonly size: number;
  readonly path: string;
}

export interface FileRule {
  readonly maxBytes: number;
  readonly most: number;
  readonly least: number;
  /** allowed endings of file names in lower case, such as `.db`; any when left out */
  readonly endings?: readonly string[] | undefined;
}

export interface MultipartRules {
  readonly files: Readonly<Record<string, FileRule>>;
  /** bytes of all texts and their names */
  readonly textBytes: number;
  /** bytes of the whole body */
  readonly limit: number;
  /** folder in which a temporary folder for the files is created */
  readonly folder: string;
  readonly errors: BodyErrors;
}

export interface Multipart {
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly files: Readonly<Record<string, readonly UploadedFile[]>>;
}

const MOST_TEXTS = 1000;
const LONGEST_NAME = 100;
const PART_HEADERS = { headerPairs: 20, headerSize: 8 * 1024 };
/** Bytes that each part may need besides its content: boundary and headers. */
const PART_BYTES = PART_HEADERS.headerSize + 200;

type Rules = Readonly<Record<string, FileRule>>;

const filesOf = (rules: Rules): number => Object.values(rules).reduce((sum, { most }) => sum + most, 0);

/** Most bytes of all files under these rules. */
export const fileBytes = (rules: Rules): number =>
  Object.values(rules).reduce((sum, { most, maxBytes }) => sum + most * maxBytes, 0);

/** Most bytes of a body with all files, and with this many bytes of text. */
export const multipartBytes = (rules: Rules, textBytes: number): number =>
  fileBytes(rules) + filesOf(rules) * PART_BYTES + textBytes;

/** Listens until the signal. */
function on<T>(
  request: IncomingMessage,
  event: string,
  signal: AbortSignal,
  listener: (value: T) => void,
): void {
  request.on(event, listener);
  signal.addEventListener('abort', () => request.off(event, listener));
}

export class MultipartBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #rules: MultipartRules;
  readonly #stop = new AbortController();
  readonly #writes: Promise<void>[] = [];
  readonly #fields: Record<string, string | string[]> = Object.create(null) as Record<string, never>;
  readonly #files: Record<string, UploadedFile[]> = Object.create(null) as Record<string, never>;
  #folder: string | undefined;
  #begun = 0;
  #textBytes = 0;

  constructor(request: IncomingMessage, response: ServerResponse, rules: MultipartRules) {
    this.#request = request;
    this.#response = response;
    this.#rules = rules;
    for (const name of Object.keys(rules.files)) this.#files[name] = [];
  }

  /** Rejects by the headers alone: another media type, a compressed body, too large a Content-Length. */
  check(): void {
    const { limit, errors } = this.#rules;
    const { 'content-length': length, 'content-encoding': encoding = 'identity' } = this.#request.headers;
    if (mediaTypeOf(this.#request) !== 'multipart/form-data')
      throw errors.UNSUPPORTED_BODY('this endpoint takes multipart/form-data');
    if (encoding.toLowerCase() !== 'identity')
      throw errors.UNSUPPORTED_BODY('this endpoint does not accept a compressed body; send it uncompressed');
    if (Number(length) > limit) throw this.#tooLarge();
  }

  /** Reads the whole body; rejects with one of `errors`, which names the field at fault. */
  async read(): Promise<Multipart> {
    try {
      this.check();
      await mkdir(this.#rules.folder, { recursive: true, mode: 0o700 });
      this.#folder = await mkdtemp(join(this.#rules.folder, 'request-'));
      await this.#parse();
      for (const [name, { least }] of Object.entries(this.#rules.files))
        if ((this.#files[name]?.length ?? 0) < least) throw this.#wrong(name, 'is required');
      return { fields: this.#fields, files: this.#files };
    } catch (error) {
      this.#stop.abort();
      readOn(this.#request, this.#response);
      throw error;
    } finally {
      await Promise.allSettled(this.#writes);
    }
  }

  /** Deletes the files. */
  async remove(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#writes);
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #parse(): Promise<void> {
    const { errors, limit } = this.#rules;
    const request = this.#request;
    const busboy = this.#parser();
    // A parser that was abandoned may still report errors.
    busboy.on('error', () => undefined);
    const ended = new AbortController();
    const { signal } = ended;
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (error: Error): void => reject(error);
        let size = 0;
        on(request, 'data', signal, (chunk: Buffer) => {
          size += chunk.length;
          if (size > limit) fail(this.#tooLarge());
        });
        // All bytes may have arrived and still be lost with the connection before they were read.
        const cutOff = (): void => {
          if (!request.readableEnded) fail(errors.BAD_BODY('the body was cut off'));
        };
        on(request, 'close', signal, cutOff);
        if (request.destroyed) cutOff();
        busboy.on('error', (cause: Error) =>
          fail(errors.BAD_BODY(`the body is not a valid form: ${cause.message}`, { cause })),
        );
        busboy.on('finish', () => void Promise.all(this.#writes).then(() => resolve(), fail));
        for (const limited of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
          busboy.on(limited, () => fail(errors.BAD_BODY('the body has more parts than this endpoint takes')));
        busboy.on('field', (name, value, nameCut, valueCut) => {
          try {
            this.#takeText(name, value, nameCut || valueCut);
          } catch (error) {
            fail(error as Error);
          }
        });
        busboy.on('file', (name, file, fileName, _encoding, mediaType) => {
          file.on('error', () => undefined);
          const write = this.#takeFile(name, file, fileName, mediaType);
          this.#writes.push(write);
          write.catch(fail);
        });
        request.pipe(busboy);
      });
    } finally {
      ended.abort();
      request.unpipe(busboy);
    }
  }

  #parser(): BusboyInstance {
    const { files, textBytes, errors } = this.#rules;
    const most = filesOf(files);
    try {
      return new Busboy({
        headers: this.#request.headers as BusboyHeaders,
        limits: {
          ...PART_HEADERS,
          fieldSize: textBytes,
          fields: MOST_TEXTS,
          // One more than allowed, so that the error can name the field with too many.
          files: most + 1,
          parts: MOST_TEXTS + most + 1,
        },
      });
    } catch (cause) {
      throw errors.BAD_BODY('the Content-Type of a multipart body must name its boundary', { cause });
    }
  }

  #takeText(name: string | undefined, value: string, isCut: boolean): void {
    const { files, textBytes, errors } = this.#rules;
    this.#requireName(name);
    if (Object.hasOwn(files, name)) throw this.#wrong(name, 'must be a file, sent with a file name');
    this.#textBytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (isCut || this.#textBytes > textBytes)
      throw errors.TOO_LARGE(`the texts of the body are larger than ${sizeOf(textBytes)}`, { path: name });
    const known = this.#fields[name];
    this.#fields[name] = known === undefined ? value : [known, value].flat();
  }

  async #takeFile(
    name: string | undefined,
    file: Readable,
    sentName: string | undefined,
    mediaType: string,
  ): Promise<void> {
    const { files, errors } = this.#rules;
    this.#requireName(name);
    const rule = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!rule)
      throw this.#wrong(
        name,
        `is not a file of this endpoint; its files are ${Object.keys(files).join(', ')}`,
      );
    // A browser sends an empty part for a file field that is left empty.
    if (!sentName) return this.#requireEmpty(name, file);
    const shown = baseName(sentName);
    if (shown === '') throw this.#wrong(name, 'needs a file name');
    if (rule.endings && !rule.endings.some((ending) => shown.toLowerCase().endsWith(ending)))
      throw this.#wrong(name, `must be a file whose name ends with ${rule.endings.join(' or ')}`);
    const path = join(this.#folder as string, String(this.#begun++));
    const taken = { name: shown, mediaType, size: 0, path };
    const all = this.#files[name] as UploadedFile[];
    all.push(taken);
    if (all.length > rule.most)
      throw this.#wrong(name, rule.most === 1 ? 'takes one file only' : `takes at most ${rule.most} files`);
    const counted = async function* (
      this: MultipartBody,
      chunks: AsyncIterable<Buffer>,
    ): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        taken.size += chunk.length;
        if (taken.size > rule.maxBytes)
          throw errors.TOO_LARGE(`${name} is larger than ${sizeOf(rule.maxBytes)}`, { path: name });
        yield chunk;
      }
    };
    await pipeline(file, counted.bind(this), createWriteStream(path, { flags: 'wx', mode: 0o600 }), {
      signal: this.#stop.signal,
    });
  }

  #requireName(name: string | undefined): asserts name is string {
    if (!name || name.length > LONGEST_NAME)
      throw this.#rules.errors.BAD_BODY(
        `each part of the body needs a name of at most ${LONGEST_NAME} characters`,
      );
  }

  async #requireEmpty(name: string, file: Readable): Promise<void> {
    for await (const _chunk of file) throw this.#wrong(name, 'needs a file name');
  }

  #wrong(name: string, problem: string): Error {
    return this.#rules.errors.INVALID(`${name} ${problem}`, { path: name });
  }

  #tooLarge(): Error {
    const { limit, errors } = this.#rules;
    return errors.TOO_LARGE(`the body is larger than the ${sizeOf(limit)} that this endpoint takes`);
  }
}
