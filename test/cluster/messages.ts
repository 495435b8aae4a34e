// Redis on a machine of its own: through it live messages of one panel reach the sockets at the others.
import { setTimeout as sleep } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { searchPath } from '../../plugins/processes/contract.js';
import type { Machine, Program } from './machine.js';

const PORT = 6_379;
const START_MS = 300;

/** What is missing for it; empty where nothing is. */
export const whyNoRedis = (): string =>
  searchPath()
    .split(':')
    .some((folder) => existsSync(join(folder, 'redis-server')))
    ? ''
    : 'it needs redis-server';

export class MessageServer {
  readonly machine: Machine;
  #program: Program | undefined;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async start(machine: Machine): Promise<MessageServer> {
    const server = new MessageServer(machine);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://${this.machine.host}:${PORT}`;
  }

  /** Empty each time: it keeps nothing on a disk. */
  async start(): Promise<void> {
    const options = [
      '--bind',
      this.machine.host,
      '--port',
      String(PORT),
      '--save',
      '',
      '--protected-mode',
      'no',
    ];
    const program = this.machine.start('redis-server', options);
    this.#program = program;
    await sleep(START_MS);
    if (!program.isRunning) throw new Error(`Redis did not start: ${program.output}`);
  }

  async kill(): Promise<void> {
    await this.#program?.kill();
  }
}
