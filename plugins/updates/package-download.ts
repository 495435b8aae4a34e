// Downloads a package into the data folder. What a broken connection left is continued, and nothing is used before its
// digest is that of the signed index.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { OutgoingError } from '../outgoing/contract.js';
import { FILES, FOLDER } from './exchange-files.js';
import type { IndexSource } from './index-source.js';
import type { ReleaseFile } from './release-index.js';

const WHOLE_MS = 60 * 60_000;
const SILENCE_MS = 30_000;
/** One that starts from the beginning after it does not match is the last. */
const ATTEMPTS = 3;
const PART = /^package-[0-9a-f]{16}\.part$/;
const MIB = 1024 ** 2;

export type Progress = (received: number, size: number) => void;

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** Aborts where nothing arrives for a while. */
function silenceLimit(ms: number, stop: AbortSignal) {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    signal: AbortSignal.any([late.signal, stop]),
    restart: () => {
      clearTimeout(timer);
      timer = setTimeout(() => late.abort(new OutgoingError('time', `no data for ${ms / 1000} s`)), ms);
    },
    end: () => clearTimeout(timer),
  };
}

export class PackageDownload {
  readonly #source: IndexSource;
  readonly #folder: string;
  readonly #signal: AbortSignal;

  constructor(needs: {
    readonly source: IndexSource;
    readonly dataDirectory: string;
    readonly signal: AbortSignal;
  }) {
    this.#source = needs.source;
    this.#folder = join(needs.dataDirectory, FOLDER);
    this.#signal = needs.signal;
  }

  /** Resolves when the whole package is in the folder. Rejects with a sentence. */
  async fetch(
    file: ReleaseFile,
    onProgress: Progress = () => undefined,
    silenceMs = SILENCE_MS,
  ): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const part = join(this.#folder, `package-${file.sha256.slice(0, 16)}.part`);
    for (const name of await readdir(this.#folder))
      if (PART.test(name) && join(this.#folder, name) !== part)
        await rm(join(this.#folder, name), { force: true });
    await this.#refuseFullDisk(file.size - (await sizeOf(part)));
    for (let attempt = 1; ; attempt++) {
      try {
        const digest = await this.#continue(part, file, onProgress, silenceMs);
        if (digest === file.sha256) break;
        // What was there before may be the reason.
        await rm(part, { force: true });
        throw new Error(`the package has the SHA-256 ${digest}, and the signed index has ${file.sha256}`);
      } catch (error) {
        if (attempt === ATTEMPTS || this.#signal.aborted) throw error;
      }
    }
    const path = join(this.#folder, FILES.package);
    await rename(part, path);
    return path;
  }

  async #refuseFullDisk(needed: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize < needed)
      throw new Error(
        `the package needs ${Math.ceil(needed / MIB)} MiB in the data folder, which has ${Math.floor((bavail * bsize) / MIB)} MiB`,
      );
  }

  /** Resolves with the SHA-256 of the whole file. */
  async #continue(
    part: string,
    { url, size }: ReleaseFile,
    onProgress: Progress,
    silenceMs: number,
  ): Promise<string> {
    let have = await sizeOf(part);
    if (have > size) {
      await rm(part, { force: true });
      have = 0;
    }
    const hash = createHash('sha256');
    if (have > 0) for await (const chunk of createReadStream(part)) hash.update(chunk as Buffer);
    if (have === size) return hash.digest('hex');
    const address = this.#source.addressOf(url);
    const silence = silenceLimit(silenceMs, this.#signal);
    silence.restart();
    try {
      const reply = await this.#source.fetch(address, {
        headers: { 'accept-encoding': 'identity', ...(have > 0 && { range: `bytes=${have}-` }) },
        limits: { wholeMs: WHOLE_MS, maxBytes: size + 1 },
        signal: silence.signal,
      });
      const isRest = reply.status === 206 && reply.headers.get('content-range')?.startsWith(`bytes ${have}-`);
      if (!(reply.status === 200 || (have > 0 && isRest))) {
        await reply.body?.cancel();
        // A server that cannot continue is asked for everything the next time.
        if (have > 0) await rm(part, { force: true });
        throw new Error(`${address.host} answered ${reply.status}`);
      }
      const startsAgain = have > 0 && !isRest;
      return await this.#write(part, reply, {
        hash: startsAgain ? createHash('sha256') : hash,
        have: startsAgain ? 0 : have,
        size,
        onProgress,
        restart: silence.restart,
      });
    } finally {
      silence.end();
    }
  }

  async #write(
    part: string,
    reply: Response,
    {
      hash,
      have,
      size,
      onProgress,
      restart,
    }: {
      readonly hash: ReturnType<typeof createHash>;
      readonly have: number;
      readonly size: number;
      readonly onProgress: Progress;
      readonly restart: () => void;
    },
  ): Promise<string> {
    const handle = await open(part, have === 0 ? 'w' : 'a', 0o600);
    let received = have;
    try {
      for await (const chunk of reply.body ?? []) {
        restart();
        received += chunk.length;
        if (received > size)
          throw new Error(`the package is larger than the ${size} bytes of the signed index`);
        hash.update(chunk);
        await handle.writeFile(chunk);
        onProgress(received, size);
      }
      await handle.sync();
    } catch (error) {
      if (received > size) await rm(part, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    if (received < size) throw new Error(`the package ended after ${received} of ${size} bytes`);
    return hash.digest('hex');
  }
}
