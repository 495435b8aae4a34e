// A central with many stand-ins for nodes, and what is asked of them in a measurement.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FIGURES, type Figures, HELD } from '../bench/figures.js';
import { atMost, type Figure } from '../bench/report.js';
import type { LogLine } from '../harness/logged-panel.js';
import type { PanelProcess } from '../harness/panel-process.js';
import type { NodeSeen, Question } from './stand-ins-process.js';

export const ENTRY = fileURLToPath(new URL('../bench/measured-entry.js', import.meta.url));
export const ENV = { WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_LOG_LEVEL: 'info', [HELD]: 'on' };
const MOST_HELD_MS = 50;
const SETTLED_LIMIT_MS = 900_000;

export interface NodeBenchOptions {
  readonly nodes: number;
  readonly clients: number;
  /** of each phase in which only time passes */
  readonly seconds: number;
  /** with a real panel as one more node */
  readonly real: boolean;
}

export class StandIns {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('./stand-ins-process.js', import.meta.url)));

  ask<T>(question: Question): Promise<T> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the stand-ins ended by themselves'));
      this.#child.once('exit', ended);
      this.#child.once('message', (told) => {
        this.#child.off('exit', ended);
        resolve(told as T);
      });
      this.#child.send(question);
    });
  }
  tell(): Promise<NodeSeen[]> {
    return this.ask({ tell: true });
  }
  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

interface ShownNode {
  readonly id: number;
  readonly name: string;
  readonly status: string;
}

/** What a measured panel says of itself since it was last asked. */
export async function figuresOf(panel: PanelProcess): Promise<Figures> {
  const from = panel.log.length;
  const find = (): LogLine | undefined => panel.log.slice(from).find(({ msg }) => msg === FIGURES);
  panel.signal('SIGPWR');
  await panel.until(() => find() !== undefined, FIGURES, 60_000);
  return find() as unknown as Figures;
}
export const emailOf = (n: number): string => `user${n}@bench`;

export class World {
  readonly central: PanelProcess;
  readonly standIns: StandIns;
  readonly options: NodeBenchOptions;
  readonly inboundIds: number[] = [];
  ids: number[] = [];

  constructor(central: PanelProcess, standIns: StandIns, options: NodeBenchOptions) {
    this.central = central;
    this.standIns = standIns;
    this.options = options;
  }

  get perNode(): number {
    return Math.floor(this.options.clients / this.options.nodes);
  }
  list(): Promise<ShownNode[]> {
    return this.central.get('/panel/api/nodes/list');
  }
  async until(condition: () => Promise<boolean>, what: string): Promise<number> {
    const began = performance.now();
    while (!(await condition())) {
      if (performance.now() - began > SETTLED_LIMIT_MS) throw new Error(`did not happen: ${what}`);
      await sleep(250);
    }
    return performance.now() - began;
  }
  async allAre(status: string, of: readonly number[] = this.ids): Promise<boolean> {
    return (await this.list()).filter(({ id }) => of.includes(id)).every((node) => node.status === status);
  }
  /** Nothing waits for these. */
  async haveAll(of: readonly number[] = this.ids): Promise<boolean> {
    const states = await this.central.get<{ nodeId: number; pending: number }[]>('/panel/api/x/node-sync');
    return states.filter(({ nodeId }) => of.includes(nodeId)).every(({ pending }) => pending === 0);
  }
  /** Notes how long the event loop of a panel is held from now on, by its CPU time. */
  async watch(
    panels: readonly PanelProcess[] = [this.central],
  ): Promise<(what: string) => Promise<Figure[]>> {
    for (const panel of panels) await figuresOf(panel);
    return async (what) => {
      const figures: Figure[] = [];
      for (const panel of panels)
        figures.push({
          what: `${what}longest stall of ${panel === this.central ? 'the central' : 'the node'}`,
          value: (await figuresOf(panel)).heldMs,
          unit: 'ms',
          goal: atMost(MOST_HELD_MS, 'ms'),
        });
      return figures;
    };
  }

  /** A change of clients `from` and after, in calls of a thousand. */
  async edit(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += 1000) {
      const emails = Array.from({ length: Math.min(1000, from + count - at) }, (_, i) => emailOf(at + i));
      await this.central.get('/panel/api/clients/bulkAdjust', { body: { emails, addBytes: 1 } });
    }
  }
}
