import { type Database, during, type Principal, Refusal, type Tx } from '@weir-panel/weir/kernel';
import { audited, recordUndoer, type RecordChange } from '@weir-panel/weir/plugins/audit';
import { RecordVersions } from '@weir-panel/weir/plugins/record-versions';
import type { Tables } from './tables.js';

export interface Note {
  readonly id: number;
  readonly title: string;
  readonly body: string;
}
/** Runs in the transaction that writes notes. */
export const duringNoteSave = during<{
  readonly changes: readonly RecordChange<Note>[];
  readonly who: Principal;
}>('acme-notes/duringNoteSave');

const edited = ({ title, body }: Note) => ({ title, body });
export const noteVersion = new RecordVersions<Note>(edited);

/** How notes are recorded. */
export const recorded = audited<RecordChange<Note>>({
  area: 'note',
  hook: duringNoteSave,
  describe: ({ kind, before, after }) => ({
    kind,
    name: (after ?? before)?.title ?? '',
    id: (after ?? before)?.id ?? '',
    before: before && edited(before),
    after: after && edited(after),
  }),
});

interface Needs {
  readonly db: Database;
  readonly tables: Tables;
}

export class Notes {
  readonly #db: Database;
  readonly #rows: Tables['notes'];
  readonly #memory;

  constructor({ db, tables }: Needs) {
    this.#db = db;
    this.#rows = tables.notes;
    this.#memory = db.projection<Map<number, Note>, { id: number; note: Note | undefined }>({
      load: async () => new Map((await this.#rows.findAll()).map((row) => [row.get().id, row.get()])),
      apply: (notes, { id, note }) => {
        if (note) notes.set(id, note);
        else notes.delete(id);
      },
    });
  }

  get(id: number): Note | undefined {
    return this.#memory.state.get(id);
  }

  shown(id: number) {
    const note = this.get(id);
    if (!note) throw new Refusal(`there is no note ${id}`, { status: 404, path: 'id' });
    return { ...note, version: noteVersion.of(note) };
  }

  add(values: Omit<Note, 'id'> & { readonly id?: number }, who: Principal): Promise<Note> {
    return this.#db.write(async (tx) => {
      const note = (await this.#rows.create(values, { transaction: tx.t })).get();
      return this.#saved(tx, { kind: 'added', before: undefined, after: note }, who);
    });
  }

  update(id: number, values: Partial<Omit<Note, 'id'>>, who: Principal): Promise<Note> {
    return this.#db.write(async (tx) => {
      const before = await this.#stored(tx, id);
      await this.#rows.update(values, { where: { id }, transaction: tx.t });
      return this.#saved(tx, { kind: 'updated', before, after: { ...before, ...values } }, who);
    });
  }

  async delete(id: number, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const before = await this.#stored(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      await this.#saved(tx, { kind: 'deleted', before, after: undefined }, who);
    });
  }

  /** As the database has it. Refuses a call whose If-Match is of another version. */
  async #stored(tx: Tx, id: number): Promise<Note> {
    const note = (await this.#rows.findByPk(id, { transaction: tx.t }))?.get();
    await noteVersion.check(() => note);
    if (!note) throw new Refusal(`there is no note ${id}`, { status: 404, path: 'id' });
    return note;
  }

  async #saved(tx: Tx, change: RecordChange<Note>, who: Principal): Promise<Note> {
    const note = (change.after ?? change.before) as Note;
    await tx.during(duringNoteSave, { changes: [change], who });
    tx.apply(this.#memory, { id: note.id, note: change.after });
    return note;
  }
}

export const noteUndoer = (notes: Notes) =>
  recordUndoer<Note>(recorded, {
    facts: edited,
    find: (id) => notes.get(Number(id)),
    set: (id, fields, who) => notes.update(Number(id), fields, who),
    remake: (id, fields, who) => notes.add({ ...(fields as Omit<Note, 'id'>), id: Number(id) }, who),
  });
