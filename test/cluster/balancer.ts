// HAProxy with a file of examples/cluster; it can be killed and started again.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { example } from './example.js';
import type { Machine, Program } from './machine.js';

const START_LIMIT_MS = 15_000;

export class Balancer {
  readonly machine: Machine;
  readonly #config: string;
  #program: Program | undefined;

  private constructor(machine: Machine, config: string) {
    this.machine = machine;
    this.#config = config;
  }

  static async start(
    machine: Machine,
    name: 'haproxy.cfg' | 'haproxy-database.cfg',
    machines: readonly Machine[],
  ): Promise<Balancer> {
    const config = await machine.write(name, await example(name, machines));
    const balancer = new Balancer(machine, config);
    await balancer.start();
    return balancer;
  }

  /** HAProxy has checked its file when it listens. */
  async start(): Promise<void> {
    const program = this.machine.start('haproxy', ['-db', '-f', this.#config]);
    this.#program = program;
    await sleep(300);
    if (!program.isRunning) throw new Error(`HAProxy did not start: ${program.output}`);
  }

  /** Waits until it passes connections on to somebody at this port. */
  async passes(port: number): Promise<void> {
    for (const deadline = Date.now() + START_LIMIT_MS; ; await sleep(100)) {
      const isOpen = await new Promise<boolean>((resolve) => {
        const socket = connect(port, this.machine.host);
        // It closes a connection at once for which it has nobody.
        const timer = setTimeout(() => socket.destroy(), 500);
        let stays = true;
        socket.once('end', () => (stays = false)).once('error', () => (stays = false));
        socket.once('close', () => {
          clearTimeout(timer);
          resolve(stays);
        });
      });
      if (isOpen) return;
      if (Date.now() > deadline) throw new Error(`HAProxy finds nobody for port ${port}`);
    }
  }

  get isRunning(): boolean {
    return this.#program?.isRunning === true;
  }
  async kill(): Promise<void> {
    await this.#program?.kill();
  }
}
