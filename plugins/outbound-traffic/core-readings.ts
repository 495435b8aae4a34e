// The last readings of the cores of several panels on one database. Counters of one core say nothing of another, so each
// panel has its own readings; those of a panel alone stand in the rows of its outbounds.
import { createHash } from 'node:crypto';
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { PanelsApi } from '../cluster/contract.js';
import type { Moved, Reading } from './counting.js';
import type { OutboundTables } from './tables.js';

interface TaggedReading extends Reading {
  readonly tag: string;
}
/** By panel and tag. */
type State = Map<string, Map<string, Reading>>;
type Change =
  | { readonly panel: string; readonly read: readonly TaggedReading[]; readonly over: readonly string[] }
  | { readonly moved: readonly string[]; readonly epochs: readonly string[] };

const COLUMNS = {
  panel: 'text',
  hash: 'text',
  tag: 'text',
  epoch: 'text',
  up: 'integer',
  down: 'integer',
} as const;

/** Key of a tag: MySQL compares texts without case, and long ones cannot be a key. */
export const hashOf = (tag: string): string => createHash('sha256').update(tag).digest('hex');

export class CoreReadings {
  /** name of this panel among several; blank for one alone */
  readonly #panel: string;
  readonly #memory: Projection<State, Change>;

  constructor({
    db,
    tables,
    panels,
  }: {
    db: Database;
    tables: OutboundTables;
    panels?: Pick<PanelsApi, 'name'> | undefined;
  }) {
    this.#panel = panels?.name ?? '';
    this.#memory = db.projection<State, Change>({
      load: async () => {
        const state: State = new Map();
        for (const row of await tables.readings.findAll()) {
          const { panel, tag, epoch, up, down } = row.get();
          ofPanel(state, panel).set(tag, { epoch, up, down });
        }
        return state;
      },
      apply: (state, change) => {
        if ('moved' in change) return leave(state, change.moved, new Set(change.epochs));
        const own = ofPanel(state, change.panel);
        for (const tag of change.over) own.delete(tag);
        for (const { tag, epoch, up, down } of change.read) own.set(tag, { epoch, up, down });
      },
    });
  }

  /** Whether other panels add to the same outbounds. */
  get areShared(): boolean {
    return this.#panel !== '';
  }

  /** The last reading of a counter of this panel's core; `row`: the one that the row of the outbound includes. */
  last(tag: string, epoch: string, row: Reading | undefined): Reading | undefined {
    const { state } = this.#memory;
    const own = this.areShared ? state.get(this.#panel)?.get(tag) : row;
    if (own?.epoch === epoch) return own;
    // The panel was alone when it counted this core last, or one of several.
    const others = this.areShared ? [row] : [...state.values()].map((panel) => panel.get(tag));
    return others.find((one) => one?.epoch === epoch) ?? own;
  }

  /** Tags of this panel's readings of cores before this one. */
  over(epoch: string): string[] {
    const own = this.areShared ? this.#memory.state.get(this.#panel) : undefined;
    return [...(own ?? [])].flatMap(([tag, reading]) => (reading.epoch === epoch ? [] : [tag]));
  }

  /**
   * Writes the readings of what moved, in the transaction of its bytes, and deletes those that are `over`. Those of a panel
   * alone are in the rows then, so here they go. `epochs`: of all readings that were compared.
   */
  async save(
    tx: Tx,
    moved: readonly Moved[],
    { over, epochs }: { readonly over: readonly string[]; readonly epochs: readonly string[] },
  ): Promise<void> {
    if (!this.areShared) return this.#moveToRows(tx, moved, epochs);
    const read = moved.map(({ tag, reading }) => ({ tag, ...reading }));
    const panel = this.#panel;
    if (over.length > 0)
      await tx.run('DELETE FROM outbound_readings WHERE panel = :panel AND hash IN (:hashes)', {
        panel,
        hashes: over.map(hashOf),
      });
    if (read.length > 0) {
      const { rows, incoming, onConflict } = tx.sql;
      const names = Object.keys(COLUMNS);
      const set = ['epoch', 'up', 'down'].map((column) => `${column} = ${incoming(column)}`).join(', ');
      await tx.run(
        `INSERT INTO outbound_readings (${names.join(', ')})
         SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${rows(COLUMNS)} AS j WHERE true ${onConflict('panel, hash', set)}`,
        {
          rows: JSON.stringify(
            read.map(({ tag, epoch, up, down }) => [panel, hashOf(tag), tag, epoch, up, down]),
          ),
        },
      );
    }
    if (read.length + over.length > 0) tx.apply(this.#memory, { panel, read, over });
  }

  async #moveToRows(tx: Tx, moved: readonly Moved[], epochs: readonly string[]): Promise<void> {
    if (this.#memory.state.size === 0 || moved.length === 0) return;
    const tags = moved.map(({ tag }) => tag);
    await tx.run('DELETE FROM outbound_readings WHERE epoch IN (:epochs) AND hash IN (:hashes)', {
      epochs,
      hashes: tags.map(hashOf),
    });
    tx.apply(this.#memory, { moved: tags, epochs });
  }
}

function ofPanel(state: State, panel: string): Map<string, Reading> {
  const known = state.get(panel);
  if (known) return known;
  const added = new Map<string, Reading>();
  state.set(panel, added);
  return added;
}

function leave(state: State, tags: readonly string[], epochs: ReadonlySet<string>): void {
  for (const [panel, readings] of state) {
    for (const tag of tags) if (epochs.has(readings.get(tag)?.epoch ?? '')) readings.delete(tag);
    if (readings.size === 0) state.delete(panel);
  }
}
