// What goes wrong, at random by a seed, one thing after another and sometimes two at once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../harness/random.js';
import type { DatabaseServer } from './galera.js';
import type { ClusterPanel } from './panel.js';
import type { World } from './world.js';

/** The lease lasts ten seconds. */
const LONGER_THAN_LEASE_MS = 13_000;
const FAIR_MS = 5_000;
const HOUR_MS = 3_600_000;

export interface Fault {
  readonly kind: string;
  readonly what: string;
  /** `performance.now()` */
  readonly from: number;
  to: number;
}

interface Kind {
  readonly name: string;
  /** how often it comes, against the others */
  readonly weight: number;
  /** One of these is hit at a time: of three database servers two are needed. */
  readonly part: 'panel' | 'database' | 'front' | 'messages' | 'load';
  run(): Promise<string>;
}

export class Faults {
  readonly #world: World;
  readonly #random: Random;
  readonly #note: (text: string) => void;
  readonly #twice: (on: boolean) => void;
  readonly done: Fault[] = [];
  readonly #busy = new Set<string>();
  /** panels that a fault has ended, and starts again itself */
  readonly #down = new Set<ClusterPanel | DatabaseServer>();
  /** how often a panel has ended because of what happened to others */
  byThemselves = 0;
  /** the same of database servers */
  serversByThemselves = 0;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();
  #managing: Promise<unknown> = Promise.resolve();

  constructor(options: {
    readonly world: World;
    readonly random: Random;
    readonly note: (text: string) => void;
    /** callers send each call twice from now on, or not */
    readonly twice: (on: boolean) => void;
  }) {
    this.#world = options.world;
    this.#random = options.random;
    this.#note = options.note;
    this.#twice = options.twice;
  }

  begin(): void {
    this.#managing = this.#manage();
    // The second one hits beside the first one.
    this.#running = Promise.all([this.#sequence(FAIR_MS), this.#sequence(3 * FAIR_MS)]);
  }

  /** Everything runs again when this resolves. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    await this.#managing;
  }

  /** As a service manager does: starts what has ended by itself. */
  async #manage(): Promise<void> {
    while (!this.#isOver || this.#busy.size > 0) {
      const ended = this.#world.panels.filter((panel) => !panel.isUp && !this.#down.has(panel));
      await Promise.all(
        ended.map(async (panel) => {
          this.#note(`${panel.name} has ended by itself: ${JSON.stringify(panel.log.at(-1))}`);
          this.byThemselves++;
          await panel.keepStarting(this.#note);
        }),
      );
      for (const server of this.#world.galera.servers) {
        if (server.isRunning || this.#down.has(server)) continue;
        this.#note(`${server.machine.name} has ended by itself`);
        this.serversByThemselves++;
        await server.start();
      }
      await sleep(500);
    }
  }

  async #sequence(pauseMs: number): Promise<void> {
    for (;;) {
      await this.#wait(pauseMs * (0.5 + this.#random.below(100) / 100));
      if (this.#isOver) return;
      const kind = this.#pick();
      if (!kind) continue;
      this.#busy.add(kind.part);
      const fault: Fault = { kind: kind.name, what: '', from: performance.now(), to: Infinity };
      this.done.push(fault);
      try {
        const what = await kind.run();
        Object.assign(fault, { what });
        this.#note(
          `${kind.name} ${what}: over after ${((performance.now() - fault.from) / 1000).toFixed(1)} s`,
        );
      } finally {
        fault.to = performance.now();
        this.#busy.delete(kind.part);
      }
    }
  }

  #pick(): Kind | undefined {
    const kinds = this.#kinds().filter(({ part }) => !this.#busy.has(part));
    const tickets = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
    return this.#random.pick(tickets);
  }

  /** A fault lasts to its end; only pauses between them end early. */
  async #wait(ms: number): Promise<void> {
    for (let left = ms; left > 0 && !this.#isOver; left -= 100) await sleep(Math.min(left, 100));
  }

  #panel(): ClusterPanel {
    const panel = this.#random.pick(this.#world.panels);
    if (!panel) throw new Error('there is no panel');
    return panel;
  }
  #leader(): ClusterPanel {
    return this.#world.panels.find(({ leads }) => leads) ?? this.#panel();
  }
  #server(): DatabaseServer {
    const server = this.#random.pick(this.#world.galera.servers);
    if (!server) throw new Error('there is no server');
    return server;
  }
  /** Half of the hits are meant for the leader. */
  #victim(): ClusterPanel {
    return this.#random.below(2) === 0 ? this.#leader() : this.#panel();
  }

  #kinds(): Kind[] {
    const { galera, front, messages, databaseBalancers } = this.#world;
    const pause = (most: number) => sleep(500 + this.#random.below(most));
    const panelKind = (name: string, weight: number, work: (panel: ClusterPanel) => Promise<void>): Kind => ({
      name,
      weight,
      part: 'panel',
      run: async () => {
        const panel = this.#victim();
        const role = panel.leads ? 'which leads' : 'which follows';
        this.#note(`${name} ${panel.name}, ${role}`);
        this.#down.add(panel);
        try {
          await work(panel);
        } finally {
          this.#down.delete(panel);
        }
        return `${panel.name}, ${role}`;
      },
    });
    const serverKind = (
      name: string,
      weight: number,
      work: (server: DatabaseServer) => Promise<void>,
    ): Kind => ({
      name,
      weight,
      part: 'database',
      run: async () => {
        const server = this.#server();
        this.#note(`${name} ${server.machine.name}`);
        this.#down.add(server);
        try {
          await work(server);
          await server.synced();
        } finally {
          this.#down.delete(server);
        }
        return server.machine.name;
      },
    });
    return [
      panelKind('kill -9 of a panel', 3, async (panel) => {
        await panel.kill('SIGKILL');
        await pause(18_000);
        await panel.keepStarting(this.#note);
      }),
      panelKind('restart of a panel', 2, async (panel) => {
        await panel.kill('SIGTERM');
        await panel.keepStarting(this.#note);
      }),
      panelKind('a panel stands still', 2, async (panel) => {
        panel.signal('SIGSTOP');
        await sleep(LONGER_THAN_LEASE_MS + this.#random.below(5_000));
        panel.signal('SIGCONT');
      }),
      panelKind('a panel is cut off', 2, async (panel) => {
        await panel.machine.link('down');
        await pause(20_000);
        await panel.machine.link('up');
      }),
      panelKind('a clock is an hour wrong', 1, async (panel) => {
        await panel.kill('SIGTERM');
        const by = this.#random.below(2) === 0 ? HOUR_MS : -HOUR_MS;
        await panel.keepStarting(this.#note, { TEST_CLOCK_WRONG_BY_MS: String(by) });
        await pause(10_000);
        await panel.kill('SIGTERM');
        await panel.keepStarting(this.#note);
      }),
      serverKind('kill -9 of a database server', 3, async (server) => {
        await server.kill('SIGKILL');
        await pause(8_000);
        await server.start();
      }),
      serverKind('a database server stands still', 1, async (server) => {
        server.signal('SIGSTOP');
        await pause(12_000);
        server.signal('SIGCONT');
      }),
      serverKind('a database server is cut off', 2, async (server) => {
        await server.machine.link('down');
        await pause(12_000);
        await server.machine.link('up');
      }),
      {
        name: 'kill -9 of the balancer',
        weight: 1,
        part: 'front',
        run: async () => {
          await front.kill();
          await pause(3_000);
          await front.start();
          return 'in front';
        },
      },
      ...(messages === undefined
        ? []
        : [
            {
              name: 'kill -9 of Redis',
              weight: 1,
              part: 'messages' as const,
              run: async () => {
                await messages.kill();
                await pause(5_000);
                await messages.start();
                return 'between the panels';
              },
            },
            {
              name: 'Redis is cut off',
              weight: 1,
              part: 'messages' as const,
              run: async () => {
                await messages.machine.link('down');
                await pause(12_000);
                await messages.machine.link('up');
                return 'from the panels';
              },
            },
          ]),
      ...(databaseBalancers.length === 0
        ? []
        : [
            {
              name: 'kill -9 of a balancer before the database',
              weight: 1,
              part: 'front' as const,
              run: async () => {
                const balancer = this.#random.pick(databaseBalancers);
                await balancer?.kill();
                await pause(3_000);
                await balancer?.start();
                return `of ${balancer?.machine.name}`;
              },
            },
          ]),
      {
        name: 'each call comes twice',
        weight: 1,
        part: 'load',
        run: async () => {
          this.#twice(true);
          await pause(15_000);
          this.#twice(false);
          return `to ${galera.servers.length} panels`;
        },
      },
    ];
  }
}
