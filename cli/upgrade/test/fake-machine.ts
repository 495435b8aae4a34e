// An installed package without systemd: releases are folders, and the panel is a process that does nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppliedMigration } from '../../../panel/inspect-data.js';
import { Installation } from '../installation.js';
import type { Ended } from '../run-program.js';
import type { Machine } from '../switch-release.js';

const OK: Ended = { code: 0, said: '', complained: '' };
const applied = (...names: string[]): AppliedMigration[] => names.map((name) => ({ plugin: 'probe', name }));

/** What a release does; by default it works. */
export interface Behaviour {
  readonly check?: Ended;
  readonly health?: Ended;
  readonly backup?: Ended;
  /** its process exits at once */
  readonly exits?: boolean;
  /** systemd cannot start it */
  readonly refuses?: boolean;
  /** `weir health` of it takes too long */
  readonly hangs?: boolean;
  /** its process exits after the first health check */
  readonly dies?: boolean;
  /** the previous process goes on */
  readonly lingers?: boolean;
  /** its unit cannot be written */
  readonly noUnit?: boolean;
  /** migrations that its start runs */
  readonly migrates?: readonly string[];
}

export class FakeMachine implements Machine {
  readonly installation: Installation;
  readonly isFile: boolean;
  readonly limitMs = 1_000;
  readonly settledMs = 10;
  /** what happened, in order */
  readonly events: string[] = [];
  readonly said: string[] = [];
  readonly complained: string[] = [];
  readonly behaviours: Record<string, Behaviour>;
  database: AppliedMigration[] = applied('0001');
  hasCopy = true;
  isFull = false;
  #child: ChildProcess | undefined;
  #restarts = 0;

  private constructor(root: string, behaviours: Record<string, Behaviour>, isFile: boolean) {
    this.installation = new Installation(root);
    this.behaviours = behaviours;
    this.isFile = isFile;
  }

  /** With releases 1.0.0, which runs, and 2.0.0. */
  static async make(
    t: { teardown(close: () => unknown): void },
    behaviours: Record<string, Behaviour> = {},
    isFile = true,
  ): Promise<FakeMachine> {
    const root = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const machine = new FakeMachine(root, behaviours, isFile);
    t.teardown(async () => {
      machine.#child?.kill('SIGKILL');
      await rm(root, { recursive: true, force: true });
    });
    for (const version of ['1.0.0', '2.0.0']) {
      await mkdir(join(root, 'releases', version, 'bin'), { recursive: true });
      // The program of the process says which release runs, so it cannot be a link.
      await copyFile('/bin/sleep', join(root, 'releases', version, 'bin', 'node'));
      await writeFile(join(root, 'releases', version, 'unit'), '');
    }
    await symlink('releases/1.0.0', join(root, 'current'));
    await machine.service.restart();
    machine.events.length = 0;
    return machine;
  }

  say = (line: string): void => void this.said.push(line);
  complain = (line: string): void => void this.complained.push(line);

  readonly service: Machine['service'] = {
    install: async (release) => {
      const version = release.split('/').at(-1) ?? '';
      this.events.push(`unit of ${version}`);
      if (this.behaviours[version]?.noUnit) throw new Error('no space left on device');
    },
    restart: async () => {
      const version = (await this.installation.current()) ?? '';
      this.events.push(`start ${version}`);
      if (this.behaviours[version]?.lingers) return;
      await this.#end();
      const { exits = false, refuses = false, migrates = [] } = this.behaviours[version] ?? {};
      if (refuses) throw new Error('systemctl restart weir failed: code 1');
      this.database = [...this.database, ...applied(...migrates)];
      this.#restarts = exits ? 1 : 0;
      if (!exits) this.#child = spawn(join(this.installation.folderOf(version), 'bin', 'node'), ['1000']);
    },
    leave: async () => {
      this.events.push('leave');
      await this.#end();
    },
    state: async () => ({
      active: this.#child !== undefined || this.#restarts > 0,
      pid: this.#child?.pid ?? 0,
      restarts: this.#restarts,
    }),
    lastError: async () => 'it said why',
  };

  async #end(): Promise<void> {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  weir = async (release: string, argv: readonly string[]): Promise<Ended> => {
    this.events.push(`${release} ${argv.join(' ')}`);
    const { check, health, backup, hangs = false, dies = false } = this.behaviours[release] ?? {};
    if (hangs && argv[0] === 'health') throw new Error('weir health was killed by SIGKILL');
    if (argv[0] === 'check') return check ?? OK;
    if (argv[0] === 'backup') return backup ?? { ...OK, said: '/backups/weir.db\n' };
    if (dies) this.#restarts = 1;
    return health ?? OK;
  };
  applied = async (): Promise<AppliedMigration[]> => this.database;
  putBack: Machine['putBack'] = async ({ applied: before }) => {
    if (!this.hasCopy) return undefined;
    if (this.isFull) throw new Error('the database could not be put back: no space left on device');
    this.events.push('put back');
    this.database = [...before];
    return { copy: '/backups/before.sqlite', kept: '/backups/after.sqlite' };
  };
}
