// What goes wrong, at random: panels are killed, and the ways between them get bad.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../harness/random.js';
import type { Site } from './site.js';
import type { Way } from './way.js';
import { FAIR, type Weather } from './weather.js';

const KILL_PAUSE_MS = 4_000;
const BAD_MS = 6_000;
const FAIR_MS = 3_000;

type Kind = 'partition' | 'loss' | 'delay' | 'cut' | 'repeat';

export class Faults {
  readonly #random: Random;
  readonly #sites: readonly Site[];
  readonly #ways: readonly Way[];
  /** packets can be lost, and not only calls */
  readonly #hasPackets: boolean;
  readonly #log: (text: string) => void;
  readonly counts = new Map<string, number>();
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: {
    readonly random: Random;
    readonly sites: readonly Site[];
    readonly ways: readonly Way[];
    readonly hasPackets: boolean;
    readonly log: (text: string) => void;
  }) {
    this.#random = options.random;
    this.#sites = options.sites;
    this.#ways = options.ways;
    this.#hasPackets = options.hasPackets;
    this.#log = options.log;
  }

  begin(): void {
    this.#running = Promise.all([this.#kills(), ...this.#ways.map((way) => this.#weather(way))]);
  }

  /** The last fault is over when this resolves: every panel runs, every way is fair. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    for (const way of this.#ways) await way.clear();
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  async #kills(): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(KILL_PAUSE_MS);
      const site = this.#random.pick(this.#sites);
      if (this.#isOver || !site) return;
      this.#count('kill -9');
      this.#log(`kill -9 ${site.name}`);
      await site.kill(() => this.#pause(KILL_PAUSE_MS));
      this.#log(`${site.name} is back`);
    }
  }

  async #weather(way: Way): Promise<void> {
    while (!this.#isOver) {
      await this.#pause(FAIR_MS);
      if (this.#isOver) return;
      const kinds: readonly Kind[] = [
        'partition',
        ...(this.#hasPackets ? (['loss'] as const) : []),
        'delay',
        'cut',
        'repeat',
      ];
      const kind = this.#random.pick(kinds) ?? 'cut';
      this.#count(kind);
      this.#log(`${kind} ${way.name}`);
      await way.set(this.#of(kind));
      await this.#pause(BAD_MS);
      await way.clear();
    }
  }

  #of(kind: Kind): Weather {
    const { below } = this.#random;
    if (kind === 'partition') return this.#hasPackets ? { ...FAIR, loss: 100 } : { ...FAIR, isClosed: true };
    if (kind === 'loss') return { ...FAIR, loss: 10 + below(30) };
    if (kind === 'delay') return { ...FAIR, delayMs: 200 };
    if (kind === 'cut') return { ...FAIR, cut: 20 + below(60), delayMs: below(2) * 50 };
    return { ...FAIR, repeat: 30 + below(70) };
  }

  /** Half as long up to one and a half times. */
  async #pause(ms: number): Promise<void> {
    for (let left = ms * (0.5 + this.#random.below(100) / 100); left > 0 && !this.#isOver; left -= 100)
      await sleep(Math.min(left, 100));
  }
}
