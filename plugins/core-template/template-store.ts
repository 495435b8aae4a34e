// The templates: the one in force in memory, the last ones in the database.
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';
import { RecordVersions } from '../record-versions/contract.js';
import { duringTemplateSave } from './contract.js';
import { DEFAULT_TEMPLATE } from './default-template.js';
import { errors } from './errors.js';
import { partsOf, type TemplateParts } from './template-parts.js';
import type { TemplateTables } from './tables.js';

/** With the one in force. */
export const KEPT = 10;

export interface StoredTemplate {
  /** 0: the default of a new panel, which is not stored */
  readonly id: number;
  /** Unix ms */
  readonly savedAt: number;
  readonly author: string;
  readonly authorKind: string;
  readonly note: string;
  readonly proved: boolean;
  /** JSON, indented */
  readonly body: string;
}
/** Each template that is saved has an id of its own. */
export const templateVersion = new RecordVersions<StoredTemplate>(({ id, savedAt }) => [id, savedAt]);
interface Memory {
  current: StoredTemplate;
}

export const textOf = (template: JsonObject): string => JSON.stringify(template, null, 2);
const DEFAULT: StoredTemplate = {
  id: 0,
  savedAt: 0,
  author: '',
  authorKind: '',
  note: '',
  proved: true,
  body: textOf(DEFAULT_TEMPLATE),
};

export class TemplateStore {
  readonly #rows: TemplateTables['templates'];
  readonly #clock: Clock;
  readonly memory: Projection<Memory, StoredTemplate>;
  #known: { readonly of: StoredTemplate; readonly parts: TemplateParts } | undefined;

  constructor({ db, tables, clock }: { db: Database; tables: TemplateTables; clock: Clock }) {
    this.#rows = tables.templates;
    this.#clock = clock;
    this.memory = db.projection<Memory, StoredTemplate>({
      load: async () => ({
        current: (await this.#rows.findOne({ order: [['id', 'DESC']] }))?.get() ?? DEFAULT,
      }),
      apply: (memory, current) => {
        memory.current = current;
      },
    });
  }

  get current(): StoredTemplate {
    return this.memory.state.current;
  }
  /** Parts of the template in force. */
  get parts(): TemplateParts {
    const { current } = this;
    if (this.#known?.of.body !== current.body)
      this.#known = { of: current, parts: partsOf(JSON.parse(current.body) as JsonObject) };
    return this.#known.parts;
  }

  /** Call it inside the write of an admin. */
  async checkVersion(tx: Tx): Promise<void> {
    await templateVersion.check(async () => {
      const row = await this.#rows.findOne({ order: [['id', 'DESC']], transaction: tx.t });
      return row?.get() ?? DEFAULT;
    });
  }

  /** The last ones, the one in force first. */
  async list(): Promise<StoredTemplate[]> {
    return (await this.#rows.findAll({ order: [['id', 'DESC']], limit: KEPT })).map((row) => row.get());
  }

  /** 0 is the default of a new panel. Rejects with NOT_FOUND. */
  async find(id: number): Promise<StoredTemplate> {
    if (id === 0) return DEFAULT;
    const row = await this.#rows.findByPk(id);
    if (!row) throw errors.NOT_FOUND(`there is no template ${id}; the last ${KEPT} are kept`, { path: 'id' });
    return row.get();
  }

  /** The newest that a core has run with. */
  async lastProved(): Promise<StoredTemplate> {
    return (await this.list()).find(({ proved }) => proved) ?? DEFAULT;
  }

  /** Stores a template, which is in force with the commit, and removes the oldest one. */
  async add(tx: Tx, body: string, who: Principal, note: string, proved: boolean): Promise<StoredTemplate> {
    const values = {
      body,
      savedAt: this.#clock.now(),
      author: who.name,
      authorKind: who.kind,
      note,
      proved,
    };
    const { id } = (await this.#rows.create(values, { transaction: tx.t })).get();
    const ids = await this.#rows.findAll({
      attributes: ['id'],
      order: [['id', 'DESC']],
      offset: KEPT,
      limit: KEPT,
      transaction: tx.t,
    });
    if (ids.length > 0)
      await this.#rows.destroy({ where: { id: ids.map((row) => row.get().id) }, transaction: tx.t });
    const stored = { ...values, id };
    const before = this.current;
    const read = (text: string): JsonObject => JSON.parse(text) as JsonObject;
    await tx.during(duringTemplateSave, {
      changes: [
        { before: { id: before.id, template: read(before.body) }, after: { id, template: read(body) } },
      ],
      who,
    });
    tx.apply(this.memory, stored);
    return stored;
  }

  /** Notes that a core has run with the template in force. */
  async prove(tx: Tx, template: StoredTemplate): Promise<void> {
    await this.#rows.update({ proved: true }, { where: { id: template.id }, transaction: tx.t });
    if (this.current.id === template.id) tx.apply(this.memory, { ...template, proved: true });
  }
}
