// The nodes: rows, with sealed tokens, and memory that follows them.
import { UniqueConstraintError } from 'sequelize';
import type { Clock, Database, Hooks, Principal, Projection, Tx } from '../../kernel/index.js';
import type { SealedColumn, SecretsApi } from '../secrets/contract.js';
import { afterNodeSave, duringNodeSave, type NodeChange, type NodeFacts } from './contract.js';
import { errors } from './errors.js';
import { MOST_TAGS } from './fields.js';
import type { NodeFields, NodeRow, NodeTarget } from './model.js';
import type { NodeStates } from './status/node-states.js';
import type { NodeTables } from './tables.js';
import { RecordVersions } from '../record-versions/contract.js';

export const nodeTokens: SealedColumn = { table: 'nodes', key: 'id', column: 'api_token' };
/** Each has four series of half a megabyte on disk. */
export const MOST_NODES = 200;

/** Replaced at each change, so a row that is still in it is the present one. */
interface Memory {
  list: readonly NodeRow[];
}
interface Change {
  readonly set?: NodeRow;
  readonly deleted?: number;
}
interface Needs {
  readonly db: Database;
  readonly tables: NodeTables;
  readonly clock: Clock;
  readonly secrets: SecretsApi;
  readonly states: NodeStates;
  readonly hooks: Hooks;
}

export function factsOf(row: NodeRow): NodeFacts {
  const { apiToken, createdAt: _, updatedAt: _updatedAt, ...facts } = row;
  return { ...facts, hasApiToken: apiToken !== '' };
}

/** The sealed token is another text after each change of it. */
export const nodeVersion = new RecordVersions<NodeRow>((row) => [factsOf(row), row.apiToken]);

export class NodeStore {
  readonly #needs: Needs;
  readonly memory: Projection<Memory, Change>;

  constructor({ db, tables, clock, secrets, states, hooks }: Needs) {
    this.#needs = { db, tables, clock, secrets, states, hooks };
    this.memory = db.projection<Memory, Change>({
      load: async () => ({
        list: (await tables.nodes.findAll({ order: ['id'] })).map((row) => row.get()),
      }),
      apply: (memory, { set, deleted }) => {
        const rest = memory.list.filter(({ id }) => id !== deleted && id !== set?.id);
        memory.list = set ? [...rest, set].sort((a, b) => a.id - b.id) : rest;
      },
    });
  }

  list(): readonly NodeRow[] {
    return this.memory.state.list;
  }
  find(id: number): NodeRow | undefined {
    return this.memory.state.list.find((node) => node.id === id);
  }
  /** Throws NOT_FOUND. */
  require(id: number): NodeRow {
    const node = this.find(id);
    if (!node) throw errors.NOT_FOUND(`there is no node ${id}`, { path: 'id' });
    return node;
  }

  /** The node as it is called, with its token. */
  target(row: NodeRow): NodeTarget {
    return { ...row, apiToken: this.#tokenOf(row) };
  }
  fields(row: NodeRow): NodeFields {
    const { id: _, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = row;
    return { ...fields, apiToken: this.#tokenOf(row) };
  }
  #tokenOf({ id, apiToken }: NodeRow): string {
    return apiToken === '' ? '' : this.#needs.secrets.open(nodeTokens, id, apiToken);
  }

  add(fields: NodeFields, who: Principal, note?: (id: number) => void): Promise<NodeRow> {
    return this.#write(async (tx) => {
      const { tables, clock, secrets } = this.#needs;
      if (this.list().length >= MOST_NODES) throw errors.TOO_MANY();
      const now = Math.floor(clock.now() / 1000);
      const values = { ...fields, apiToken: '', createdAt: now, updatedAt: now };
      const created = await tables.nodes.create(values, { transaction: tx.t });
      const id = Number(created.get('id'));
      const apiToken = fields.apiToken === '' ? '' : secrets.seal(nodeTokens, id, fields.apiToken);
      if (apiToken !== '') await tables.nodes.update({ apiToken }, { where: { id }, transaction: tx.t });
      const row = { ...values, id, apiToken };
      note?.(id);
      tx.apply(this.memory, { set: row });
      await this.#report(tx, { kind: 'added', before: undefined, after: factsOf(row) }, who);
      return row;
    });
  }

  /** `change` gets the present fields, with the token, and returns them as they are to be. Rejects with NOT_FOUND. */
  change(id: number, change: (before: NodeFields) => NodeFields, who: Principal): Promise<NodeRow> {
    return this.#write(async (tx) => {
      const { tables, clock, secrets } = this.#needs;
      const before = this.require(id);
      await this.#checkVersion(tx, id);
      const old = this.fields(before);
      const fields = change(old);
      const sealed = fields.apiToken === '' ? '' : secrets.seal(nodeTokens, id, fields.apiToken);
      const apiToken = fields.apiToken === old.apiToken ? before.apiToken : sealed;
      const updatedAt = Math.floor(clock.now() / 1000);
      const row = { ...before, ...fields, apiToken, updatedAt };
      await tables.nodes.update(row, { where: { id }, transaction: tx.t });
      tx.apply(this.memory, { set: row });
      await this.#report(tx, { kind: 'updated', before: factsOf(before), after: factsOf(row) }, who);
      return row;
    });
  }

  /** As `change`, of the tags alone, in a write of another plugin. */
  async selectTags(
    tx: Tx,
    id: number,
    select: (before: readonly string[]) => readonly string[],
    who: Principal,
  ): Promise<void> {
    const before = this.find(id);
    if (!before) return;
    const inboundTags = [...select(before.inboundTags)].slice(0, MOST_TAGS);
    if (inboundTags.join('\n') === before.inboundTags.join('\n')) return;
    const row = { ...before, inboundTags };
    await this.#needs.tables.nodes.update({ inboundTags }, { where: { id }, transaction: tx.t });
    tx.apply(this.memory, { set: row });
    await this.#report(tx, { kind: 'updated', before: factsOf(before), after: factsOf(row) }, who);
  }

  delete(id: number, who: Principal): Promise<void> {
    return this.#write(async (tx) => {
      const { tables, states } = this.#needs;
      const row = this.require(id);
      await this.#checkVersion(tx, id);
      await tables.nodes.destroy({ where: { id }, transaction: tx.t });
      await states.delete(tx, id);
      tx.apply(this.memory, { deleted: id });
      await this.#report(tx, { kind: 'deleted', before: factsOf(row), after: undefined }, who);
    });
  }

  async #checkVersion(tx: Tx, id: number): Promise<void> {
    const { nodes } = this.#needs.tables;
    await nodeVersion.check(async () => (await nodes.findByPk(id, { transaction: tx.t }))?.get());
  }

  async #report(tx: Tx, change: NodeChange, who: Principal): Promise<void> {
    const changed = { changes: [change], who };
    await tx.during(duringNodeSave, changed);
    tx.after(afterNodeSave, changed);
  }

  async #write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#needs.db.write(work);
    } catch (error) {
      if (error instanceof UniqueConstraintError) throw errors.NAME_TAKEN(undefined, { path: 'name' });
      throw error;
    }
  }
}
