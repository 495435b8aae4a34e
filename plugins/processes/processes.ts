// All processes of a panel: one handle for each, and none without its plugin.
import { mkdirSync, realpathSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Hooks, type Log, messageOf, type PluginContext } from '../../kernel/index.js';
import {
  type ManagedProcess,
  type ProcessesApi,
  type ProcessOptions,
  type ProcessOwner,
  type ProcessSlot,
  processStateChanged,
  type SlotOptions,
} from './contract.js';
import { Managed } from './managed.js';
import { endLeft, isManagedNote, type Place } from './one-start.js';
import { isName, planOf } from './options.js';
import { Slot } from './slot.js';

/** The record of a managed process, in its own folder. */
const RECORD = 'process.json';

export class ProcessTable implements ProcessesApi {
  readonly #hooks: Pick<Hooks, 'emit'>;
  readonly #log: Log;
  readonly #data: string;
  /** by `<plugin>/<name>` */
  readonly #handles = new Map<string, Managed>();
  /** processes of a previous panel that are being stopped */
  readonly #ending = new Map<string, Promise<void>>();
  #open = false;
  /** the panel restarts at once, in this process */
  #again = false;

  constructor({ hooks, log, dataDirectory }: Pick<PluginContext, 'hooks' | 'log' | 'dataDirectory'>) {
    this.#hooks = hooks;
    this.#log = log;
    this.#data = dataDirectory;
  }

  manage({ name: plugin, log }: ProcessOwner, options: ProcessOptions): ManagedProcess {
    if (!isName(plugin))
      throw new TypeError(
        'processes: the first argument of manage must be what the plugin receives: { name, log }',
      );
    const key = `${plugin}/${String(options.name)}`;
    const data = realpathSync(this.#data);
    const folder = join(data, 'processes', plugin, String(options.name));
    const plan = (wanted: ProcessOptions) => planOf(wanted, folder, data);
    plan(options);
    const previous = this.#handles.get(key);
    if (previous !== undefined && (previous.wanted || !['stopped', 'failed'].includes(previous.state.name)))
      throw new Error(`processes: the process ${key} already exists; stop it first`);
    // Its old handle must not start it beside the new one.
    if (previous !== undefined) void previous.close(false);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const handle = new Managed(options, {
      ...this.#place(folder, log),
      data,
      planOf: plan,
      isOpen: () => this.#open,
      isFree: async () => this.#ending.get(key),
      onState: (from, to) =>
        this.#hooks.emit(processStateChanged, {
          plugin,
          name: options.name,
          from: from.name,
          to: to.name,
          reason: 'reason' in to ? to.reason : '',
        }),
    });
    this.#handles.set(key, handle);
    return handle;
  }

  slot<N extends object>(options: SlotOptions<N>): ProcessSlot<N> {
    return new Slot(options);
  }

  /** Called when the panel is open: starts the processes that were requested before. Does not wait for them, so a slow process does not delay the panel. */
  open(): void {
    this.#open = true;
    for (const handle of this.#handles.values()) if (handle.wanted) void handle.start();
  }

  /** Stops processes that no running plugin wants: of a plugin that was disabled, removed or has failed, and processes that a plugin no longer has. */
  async endUnwanted(plugins: readonly string[]): Promise<void> {
    const running = new Set(plugins);
    const left: Promise<void>[] = [];
    for (const [key, handle] of this.#handles)
      if (!running.has(key.split('/')[0] ?? '') && handle.wanted)
        left.push(
          this.#told(
            key,
            handle.stop().finally(() => handle.close(false)),
          ),
        );
    for (const key of await this.#recorded())
      if (!this.#handles.get(key)?.wanted) left.push(this.#told(key, this.#endLeft(key)));
    await Promise.all(left);
  }

  /** Called before the panel stops. @param again another panel starts at once */
  expectEnd(again: boolean): void {
    this.#again = again;
  }

  /** Releases the processes if another panel starts at once, else stops them. */
  async close(): Promise<void> {
    await Promise.all([
      ...[...this.#handles].map(([key, handle]) => this.#told(key, handle.close(this.#again))),
      ...this.#ending.values(),
    ]);
    this.#open = false;
  }

  /** Returns a line for display for every process of a plugin, with its state. */
  describe(): string[] {
    if (!this.#open) return ['the panel does not run, and none of its processes is looked after'];
    if (this.#handles.size === 0) return ['no plugin has a process'];
    return [...this.#handles].map(([key, { state }]) => {
      const more = [
        ...('pid' in state ? [`pid ${state.pid}, since ${new Date(state.since).toISOString()}`] : []),
        ...('reason' in state ? [state.reason] : []),
      ];
      return [`${key}: ${state.name}`, ...more].join('; ');
    });
  }

  async cutLogs(): Promise<void> {
    for (const [key, handle] of this.#handles) await this.#told(key, handle.cutLog());
  }

  #place(folder: string, log: Log): Place {
    const slot = new Slot({ record: join(folder, RECORD), isNote: isManagedNote, log });
    return { data: this.#data, folder, slot, log };
  }

  async #endLeft(key: string): Promise<void> {
    const work = (async () => {
      this.#log.info('stopping a process that no plugin wants', { process: key });
      await endLeft(this.#place(join(this.#data, 'processes', key), this.#log));
    })();
    this.#ending.set(
      key,
      work.catch(() => undefined),
    );
    try {
      await work;
    } finally {
      this.#ending.delete(key);
    }
  }

  /** Keys of all recorded processes. */
  async #recorded(): Promise<string[]> {
    const root = join(this.#data, 'processes');
    const names = async (folder: string) =>
      (await readdir(folder).catch(() => [] as string[])).filter(isName);
    const keys: string[] = [];
    for (const plugin of await names(root))
      for (const name of await names(join(root, plugin)))
        if (await stat(join(root, plugin, name, RECORD)).catch(() => undefined))
          keys.push(`${plugin}/${name}`);
    return keys;
  }

  async #told(key: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#log.error('a process cannot be managed', { process: key, reason: messageOf(error) });
    }
  }
}
