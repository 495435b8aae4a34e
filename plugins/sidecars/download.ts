// Downloads the release of a program: checks its digest, unpacks it and moves it into place.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Log, messageOf } from '../../kernel/index.js';
import { unzip } from '../engine/contract.js';
import type { OutgoingAccess, OutgoingApi, OutgoingFetch } from '../outgoing/contract.js';
import type { SidecarProgram } from './contract.js';
import { type Found, findProgram, keptProgram } from './find-program.js';

const LARGEST = 200 * 1024 * 1024;
const WHOLE_MS = 15 * 60_000;

interface Needs {
  readonly outgoing: OutgoingApi | undefined;
  readonly log: Log;
  readonly config: { readonly install: 'on' | 'off' };
  readonly dataDirectory: string;
}

export class Downloads {
  readonly #needs: Needs;
  /** hosts of the releases that are wanted */
  readonly #hosts = new Set<string>();
  readonly access: OutgoingAccess = {
    // GitHub redirects to its file store.
    hosts: () => [...this.#hosts, '*.githubusercontent.com'],
    limits: { maxBytes: LARGEST, wholeMs: WHOLE_MS },
  };
  readonly #fetch: OutgoingFetch | undefined;
  /** one download of a program at a time */
  readonly #running = new Map<string, Promise<Found>>();

  constructor(needs: Needs) {
    this.#needs = needs;
    this.#fetch = needs.outgoing?.for(this.access);
  }

  /** Resolves with the program; undefined where none can be downloaded. */
  async get(program: SidecarProgram): Promise<Found | undefined> {
    const { release, name, variable } = program;
    const fetch = this.#fetch;
    if (!release || !fetch || program.chosen) return undefined;
    if (this.#needs.config.install === 'off')
      return {
        missing: `there is no ${name}, and WEIR_SIDECARS_INSTALL=off forbids downloading it; put it on PATH or name it in ${variable}`,
      };
    const running = this.#running.get(name) ?? this.#download(program, release, fetch);
    this.#running.set(name, running);
    return running.finally(() => this.#running.delete(name));
  }

  async #download(
    program: SidecarProgram,
    { version, url, sha256, member }: NonNullable<SidecarProgram['release']>,
    fetch: OutgoingFetch,
  ): Promise<Found> {
    const { name } = program;
    const path = keptProgram(process.env, name, version);
    this.#hosts.add(url);
    this.#needs.log.info('downloading a program', { program: name, version });
    try {
      const reply = await fetch(url);
      if (!reply.ok) {
        await reply.body?.cancel();
        throw new Error(`the server answered ${reply.status}`);
      }
      const file = Buffer.from(await reply.arrayBuffer());
      const digest = createHash('sha256').update(file).digest('hex');
      if (digest !== sha256) throw new Error(`it has the SHA-256 ${digest} and not ${sha256}`);
      await place(member === undefined ? file : await unzip(file, member, LARGEST), path);
      return await findProgram(program, this.#needs.dataDirectory);
    } catch (error) {
      return {
        missing: `there is no ${name}, and ${url} cannot be used: ${messageOf(error)}; ${program.hint}`,
      };
    }
  }
}

async function place(content: Buffer, path: string): Promise<void> {
  const unfinished = join(dirname(path), `unfinished-${randomUUID()}`);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(unfinished, content, { mode: 0o755 });
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}
