// A core beside the running one, which lives for one batch of tests. The plugin `processes` finds one that a killed panel left.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import {
  coreEnvironment,
  type CoreProgramsApi,
  CoreRefused,
  type JsonObject,
  runCommand,
} from '../engine/contract.js';
import { listensOn, type ManagedProcess, type ProcessesApi, readTail } from '../processes/contract.js';

/** sun_path holds 108 bytes with its final zero. */
const SOCKET_PATH_LIMIT = 107;
const READY_MS = 10_000;
const TEST_MS = 20_000;
const STOP_MS = 2_000;
const CONFIG = 'config.json';
const SOCKET = 's';
/** The core's own lock file is beside its socket; the log is of no use after the batch. The record of the process stays. */
const OURS = /^(?:config\.json|test-[0-9a-f]+\.json|s|s\.lock|output\.log(?:\.\d+)?)$/;

interface Needs extends Pick<PluginContext, 'name' | 'dataDirectory'> {
  readonly log: Log;
  readonly processes: ProcessesApi;
  readonly programs: CoreProgramsApi | undefined;
}

/** A core that was started for tests. */
export interface StartedCore {
  readonly socket: string;
  /** how it exited; undefined while it runs */
  readonly death: string | undefined;
  /** Resolves when it has exited by itself. */
  readonly died: Promise<void>;
  /** The end of its log. */
  output(): Promise<string>;
}

export class TestCore {
  readonly #needs: Needs;
  #handle: ManagedProcess | undefined;
  /** for a data folder whose path is too long for a socket */
  #elsewhere: string | undefined;

  constructor({ name, dataDirectory, log, processes, programs }: Needs) {
    this.#needs = { name, dataDirectory, log, processes, programs };
  }

  /** Undefined where there is no core. */
  get #binary(): string | undefined {
    return this.#needs.programs?.present?.binary;
  }
  get isThere(): boolean {
    return this.#binary !== undefined;
  }

  get #folder(): string {
    return join(this.#needs.dataDirectory, 'processes', this.#needs.name, 'test');
  }

  /** Path of the socket that a config may name. */
  async prepare(): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const usual = join(this.#folder, SOCKET);
    if (Buffer.byteLength(usual) <= SOCKET_PATH_LIMIT - '.lock'.length) return usual;
    this.#elsewhere ??= await mkdtemp(join(tmpdir(), 'weir-'));
    return join(this.#elsewhere, SOCKET);
  }

  /** Removes what a batch, or a panel that was killed in one, has left. */
  async clean(): Promise<void> {
    for (const file of await readdir(this.#folder).catch(() => []))
      if (OURS.test(file)) await rm(join(this.#folder, file), { force: true });
    if (this.#elsewhere !== undefined) await rm(this.#elsewhere, { recursive: true, force: true });
    this.#elsewhere = undefined;
  }

  /** Resolves with the reason why the core rejects a config; undefined when it accepts it. Rejects when it cannot be asked. */
  async rejection(config: JsonObject): Promise<string | undefined> {
    const path = join(this.#folder, `test-${randomBytes(6).toString('hex')}.json`);
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    try {
      await runCommand({
        binary: this.#binary ?? '',
        directory: this.#engineFolder,
        args: ['run', '-test', '-c', path],
        timeout: TEST_MS,
      });
      return undefined;
    } catch (error) {
      if (error instanceof CoreRefused) return error.message;
      throw error;
    } finally {
      await rm(path, { force: true });
    }
  }

  get #engineFolder(): string {
    return join(this.#needs.dataDirectory, 'engine');
  }

  /** Resolves with the core, or with the reason why it does not run with this config. Rejects when it cannot be started. */
  async start(config: JsonObject, socket: string): Promise<StartedCore | string> {
    const path = join(this.#folder, CONFIG);
    await rm(socket, { force: true });
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    try {
      const { name, log, processes } = this.#needs;
      const handle = processes.manage(
        { name, log },
        {
          name: 'test',
          command: this.#binary ?? '',
          args: ['run', '-c', path],
          env: coreEnvironment(this.#engineFolder),
          ready: listensOn({ socket }),
          readyWithin: READY_MS,
          adopt: false,
          backOff: { attempts: 1 },
          stopGrace: STOP_MS,
        },
      );
      this.#handle = handle;
      const state = await handle.start();
      if (state.name === 'running') return started(handle, socket);
      return 'reason' in state ? state.reason : 'the panel stops';
    } finally {
      // It has secrets, and the core has read it.
      await rm(path, { force: true });
    }
  }

  async stop(): Promise<void> {
    try {
      await this.#handle?.stop();
    } catch (error) {
      this.#needs.log.warn('a core that tested outbounds does not exit', { reason: messageOf(error) });
    }
    await this.clean();
  }
}

function started(handle: ManagedProcess, socket: string): StartedCore {
  let death: string | undefined;
  let wake = (): void => undefined;
  const died = new Promise<void>((resolve) => (wake = resolve));
  const look = (): void => {
    const { state } = handle;
    if (state.name === 'running' || death !== undefined) return;
    death = 'reason' in state ? state.reason : 'it was stopped';
    wake();
  };
  handle.onState(look);
  look();
  return {
    socket,
    get death() {
      return death;
    },
    died,
    output: () => readTail(join(handle.folder, 'output.log'), 0).catch(() => ''),
  };
}
