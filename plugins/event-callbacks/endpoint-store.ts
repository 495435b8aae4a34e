// Endpoints: rows, and memory that follows them.
import { randomBytes } from 'node:crypto';
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import { RecordVersions } from '../record-versions/contract.js';
import type { SecretsApi } from '../secrets/contract.js';
import { duringEndpointSave, type EndpointFacts } from './contract.js';
import { errors } from './errors.js';
import { fitsPattern } from './event-types.js';
import { newSecret } from './signature.js';
import { type CallbackTables, type EndpointRow, sealedPrevious, sealedSecret } from './tables.js';

export const MOST_ENDPOINTS = 20;

type Change = { readonly set: EndpointRow } | { readonly deleted: string };
/** by id */
type Memory = Map<string, EndpointRow>;
type Settable = Pick<EndpointRow, 'url' | 'description' | 'events' | 'enable' | 'allowPrivate'>;

const randomId = (prefix: string): string => `${prefix}_${randomBytes(9).toString('hex')}`;

export function factsOf(row: EndpointRow): EndpointFacts {
  const { id, url, description, events, enable, allowPrivate, secretId } = row;
  return { id, url, description, events, enable, allowPrivate, secretId };
}

export const endpointVersion = new RecordVersions<EndpointRow>((row) => factsOf(row));

export class EndpointStore {
  readonly #db: Database;
  readonly #rows: CallbackTables['endpoints'];
  readonly #clock: Clock;
  readonly #secrets: SecretsApi;
  readonly #memory: Projection<Memory, Change>;
  /** whether an endpoint wants this type; forgotten at each change */
  readonly #wanted = new Map<string, boolean>();
  /** false until memory is loaded: plugins that start earlier write too */
  isReady = false;
  /** Called after each change that is committed. */
  onChange: (id: string) => void = () => undefined;

  constructor({
    db,
    tables,
    clock,
    secrets,
  }: {
    db: Database;
    tables: CallbackTables;
    clock: Clock;
    secrets: SecretsApi;
  }) {
    this.#db = db;
    this.#rows = tables.endpoints;
    this.#clock = clock;
    this.#secrets = secrets;
    this.#memory = db.projection<Memory, Change>({
      load: async () => {
        const rows = await this.#rows.findAll({ order: [['createdAt', 'ASC']] });
        this.#wanted.clear();
        return new Map(rows.map((row) => [row.get().id, row.get()]));
      },
      apply: (endpoints, change) => {
        this.#wanted.clear();
        const id = 'set' in change ? change.set.id : change.deleted;
        if ('set' in change) endpoints.set(id, change.set);
        else endpoints.delete(id);
        this.onChange(id);
      },
    });
  }

  list(): readonly EndpointRow[] {
    return [...this.#memory.state.values()];
  }
  get(id: string): EndpointRow | undefined {
    return this.#memory.state.get(id);
  }
  /** Throws NOT_FOUND. */
  find(id: string): EndpointRow {
    const found = this.get(id);
    if (!found) throw errors.NOT_FOUND(`there is no endpoint ${id}`, { path: 'id' });
    return found;
  }

  /** Whether an endpoint wants this type, also a disabled one: it goes on where it stopped. */
  readonly wants = (type: string): boolean => {
    const known = this.#wanted.get(type);
    if (known !== undefined) return known;
    const is = wantsOf([...this.#memory.state.values()].map(({ events }) => events))(type);
    this.#wanted.set(type, is);
    return is;
  };

  /** The same inside a write, also before memory is loaded. */
  async wanted(tx: Tx): Promise<(type: string) => boolean> {
    if (this.isReady) return this.wants;
    const rows = await this.#rows.findAll({ transaction: tx.t });
    return wantsOf(rows.map((row) => row.get().events));
  }

  /** The secrets that sign now, the newest first. */
  secretsOf({ id, secret, previousSecret, previousUntil }: EndpointRow): string[] {
    const previous = previousSecret !== '' && previousUntil > this.#clock.now();
    return [
      this.#secrets.open(sealedSecret, id, secret),
      ...(previous ? [this.#secrets.open(sealedPrevious, id, previousSecret)] : []),
    ];
  }

  add(
    { id = randomId('ep'), ...values }: Settable & { readonly id?: string | undefined },
    who: Principal,
    note: ((added: { id: string; secret: string }) => void) | undefined,
  ): Promise<{ id: string; secret: string }> {
    const secret = newSecret();
    return this.#db.write(async (tx) => {
      if (this.get(id)) throw errors.TAKEN(`there is an endpoint ${id}`, { path: 'id' });
      if (this.#memory.state.size >= MOST_ENDPOINTS)
        throw errors.TOO_MANY(`there are ${MOST_ENDPOINTS} endpoints; delete one first`);
      const now = this.#clock.now();
      const row: EndpointRow = {
        ...values,
        id,
        disabledReason: '',
        secretId: randomId('key'),
        secret: this.#secrets.seal(sealedSecret, id, secret),
        previousSecret: '',
        previousUntil: 0,
        createdAt: now,
        updatedAt: now,
      };
      await this.#rows.create(row, { transaction: tx.t });
      // It gets what happens from now on.
      await tx.run(
        `INSERT INTO event_callback_progress (endpoint_id, position, failures, failing_since, paused_until, last_delivered_at, last_error, dropped)
         SELECT :id, COALESCE(MAX(id), 0), 0, 0, 0, 0, '', 0 FROM event_callback_messages`,
        { id },
      );
      tx.apply(this.#memory, { set: row });
      note?.({ id, secret });
      await tx.during(duringEndpointSave, {
        changes: [{ kind: 'added', before: undefined, after: factsOf(row) }],
        who,
      });
      return { id, secret };
    });
  }

  async #checkVersion(tx: Tx, id: string): Promise<void> {
    await endpointVersion.check(async () => (await this.#rows.findByPk(id, { transaction: tx.t }))?.get());
  }

  /** Writes fields of an endpoint; `also` in the same transaction. */
  change(
    id: string,
    fields: Partial<EndpointRow>,
    who: Principal,
    also?: (tx: Tx) => Promise<void>,
  ): Promise<EndpointRow> {
    return this.#db.write(async (tx) => {
      const before = this.find(id);
      await this.#checkVersion(tx, id);
      const after = { ...before, ...fields, updatedAt: this.#clock.now() };
      await this.#rows.update(
        { ...fields, updatedAt: after.updatedAt },
        { where: { id }, transaction: tx.t },
      );
      await also?.(tx);
      tx.apply(this.#memory, { set: after });
      await tx.during(duringEndpointSave, {
        changes: [{ kind: 'updated', before: factsOf(before), after: factsOf(after) }],
        who,
      });
      return after;
    });
  }

  /** Makes a new secret; the previous one signs too until then. */
  async rotate(
    id: string,
    overlapMs: number,
    who: Principal,
    note: ((made: { secret: string; previousUntil: number }) => void) | undefined,
  ): Promise<{ secret: string; previousUntil: number }> {
    const secret = newSecret();
    const [current = ''] = this.secretsOf(this.find(id));
    const previousUntil = overlapMs === 0 ? 0 : this.#clock.now() + overlapMs;
    await this.change(
      id,
      {
        secretId: randomId('key'),
        secret: this.#secrets.seal(sealedSecret, id, secret),
        previousSecret: overlapMs === 0 ? '' : this.#secrets.seal(sealedPrevious, id, current),
        previousUntil,
      },
      who,
      async () => note?.({ secret, previousUntil }),
    );
    return { secret, previousUntil };
  }

  /** Its deliveries are removed later, in portions. */
  remove(id: string, who: Principal): Promise<void> {
    return this.#db.write(async (tx) => {
      const before = this.find(id);
      await this.#checkVersion(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      await tx.run('DELETE FROM event_callback_progress WHERE endpoint_id = :id', { id });
      tx.apply(this.#memory, { deleted: id });
      await tx.during(duringEndpointSave, {
        changes: [{ kind: 'deleted', before: factsOf(before), after: undefined }],
        who,
      });
    });
  }
}

const wantsOf =
  (chosen: readonly (readonly string[])[]) =>
  (type: string): boolean =>
    chosen.some((patterns) => patterns.some((pattern) => fitsPattern(pattern, type)));
