// Watches the proof while it runs: which cores live, how many bytes the users have moved, and how long there was no leader.
import { readFile } from 'node:fs/promises';
import type { Users } from '../node-soak/users.js';
import type { ClusterPanel } from './panel.js';

const LOOK_MS = 200;

export interface CoreLife {
  readonly panel: string;
  readonly pid: number;
  /** `performance.now()` */
  readonly from: number;
  to: number;
}
interface Sample {
  readonly at: number;
  /** of all users, handed over at one end */
  readonly most: number;
}

const lives = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => !/^\d+ \(.*\) [ZX]/.test(text),
    () => false,
  );

export class Watch {
  readonly #panels: readonly ClusterPanel[];
  readonly #users: () => Users | undefined;
  readonly #pairs: () => number;
  readonly cores: CoreLife[] = [];
  readonly #samples: Sample[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(panels: readonly ClusterPanel[], users: () => Users | undefined, pairs: () => number) {
    this.#panels = panels;
    this.#users = users;
    this.#pairs = pairs;
  }

  begin(): void {
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }
  end(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const at = performance.now();
      this.#samples.push({ at, most: this.moved() });
      for (const core of this.cores)
        if (core.to === Infinity && !(await lives(core.pid))) core.to = performance.now();
      for (const panel of this.#panels) {
        const pid = await panel.corePid();
        if (pid !== undefined && !this.cores.some((core) => core.pid === pid && core.to === Infinity))
          this.cores.push({ panel: panel.name, pid, from: at, to: Infinity });
      }
    } finally {
      this.#isLooking = false;
    }
  }

  /** Bytes that have been handed over until now. */
  moved(): number {
    const users = this.#users();
    if (!users) return 0;
    let sum = 0;
    for (let n = 0; n < this.#pairs(); n++) {
      const { up, down } = users.moved(n);
      sum += up.most + down.most;
    }
    return sum;
  }

  /** Bytes that moved in these windows, which may overlap. */
  movedWithin(windows: readonly (readonly [from: number, to: number])[]): number {
    let sum = 0;
    for (const [i, { at, most }] of this.#samples.entries()) {
      const next = this.#samples[i + 1];
      if (next && windows.some(([from, to]) => next.at >= from && at <= to)) sum += next.most - most;
    }
    return sum;
  }
}
