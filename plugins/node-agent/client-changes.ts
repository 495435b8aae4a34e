// Clients as a central wants them, in portions: each portion is one transaction for all that is in order.
import type { Clock, Database, Tx } from '../../kernel/index.js';
import type { ClientEditsApi, ClientRow, ClientsApi, WantedClient } from '../clients/contract.js';
import type { Centrals } from './centrals.js';
import {
  accepted,
  alreadyThere,
  type Change,
  isDue,
  isTooLong,
  OK,
  type Outcome,
  reasonOf,
  refusedBy,
  TOO_LONG,
} from './change.js';
import { principalOf } from './principal.js';
import { MOST_RECORDS, newRecord, NO_WAIT, type Records } from './records.js';
import type { CentralRow, RecordRow } from './tables.js';
import type { UsageJournal } from './usage-journal.js';
import type { UsageSeeds } from './usage-seeds.js';

/** A change with its record, and what to do. */
interface Planned {
  readonly change: Change;
  readonly wanted: WantedClient;
  /** as it was, and as it is with the change */
  readonly before: RecordRow;
  readonly record: RecordRow;
}
/** None of its inbounds is here, or nothing here changes. */
interface Waiting {
  readonly waits: RecordRow;
}
type Value = Readonly<Record<string, unknown>>;

export class ClientChanges {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #edits: ClientEditsApi;
  readonly #records: Records;
  readonly #centrals: Centrals;
  readonly #seeds: UsageSeeds;
  readonly #journal: UsageJournal;

  constructor(needs: {
    db: Database;
    clock: Clock;
    clients: ClientsApi;
    clientEdits: ClientEditsApi;
    records: Records;
    centrals: Centrals;
    seeds: UsageSeeds;
    journal: UsageJournal;
  }) {
    this.#journal = needs.journal;
    this.#seeds = needs.seeds;
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#edits = needs.clientEdits;
    this.#records = needs.records;
    this.#centrals = needs.centrals;
  }

  /** Ids of the clients here that these deletions delete; one that other inbounds have as well stays. `inbounds` are those of the central. */
  async going(
    central: CentralRow,
    deletions: readonly Change[],
    inbounds: ReadonlyMap<number, number>,
  ): Promise<ReadonlySet<number>> {
    const managed = new Set(inbounds.values());
    const records = await this.#records.find(
      central.id,
      'client',
      deletions.map(({ id }) => id),
    );
    return new Set(
      deletions.flatMap((change) => {
        const record = records.get(change.id);
        const here = record && isDue(record, change) ? this.#clients.byId(record.localId) : undefined;
        return change.release !== true && here?.inboundIds.every((id) => managed.has(id)) ? [here.id] : [];
      }),
    );
  }

  /** At most a thousand. `inbounds` are those of the central that are here: its ids to ours. Returns the outcomes by id. */
  async make(
    central: CentralRow,
    changes: readonly Change[],
    inbounds: ReadonlyMap<number, number>,
  ): Promise<Map<number, Outcome>> {
    const outcomes = new Map<number, Outcome>();
    const known = await this.#records.find(
      central.id,
      'client',
      changes.map(({ id }) => id),
    );
    const isFull = known.size < changes.length && (await this.#records.count(central.id)) >= MOST_RECORDS;
    const planned: Planned[] = [];
    const refused: RecordRow[] = [];
    const refuse = (record: RecordRow, change: Change, reason: string): void => {
      if (record.version !== change.version || record.refused !== reason)
        refused.push(refusedBy(record, change, reason, this.#clock.now()));
      outcomes.set(change.id, { ok: false, reason });
    };
    for (const change of changes) {
      const record = known.get(change.id) ?? newRecord(central.id, 'client', change.id);
      if (!isDue(record, change)) outcomes.set(change.id, alreadyThere(record, change));
      else if (isFull && !known.has(change.id))
        outcomes.set(change.id, {
          ok: false,
          reason: `this central has ${MOST_RECORDS} records here already`,
        });
      else if (isTooLong(change)) refuse(record, change, TOO_LONG);
      else {
        const plan = await this.#plan(central, record, change, inbounds);
        if (typeof plan === 'string') refuse(record, change, plan);
        else if ('waits' in plan) {
          refused.push(plan.waits);
          const { refused: reason } = plan.waits;
          outcomes.set(change.id, reason === '' ? OK : { ok: false, reason });
        } else planned.push(plan);
      }
    }
    // Polls name the clients as they are here: one that was deleted and is made again has another id.
    const isOther = ({ before, wanted }: Planned): boolean => before.localId > 0 && wanted.id === undefined;
    if (planned.some((one) => one.change.taken !== undefined || isOther(one))) await this.#journal.move();
    const made = await this.#edits.make(
      planned.map(({ wanted }) => wanted),
      principalOf(central.guid),
      (tx, ids) => this.#saved(tx, central, planned, ids),
    );
    for (const [i, { change, record }] of planned.entries()) {
      const outcome = made[i];
      if (!outcome) continue;
      if ('error' in outcome) {
        refuse(record, change, reasonOf(outcome.error));
        await this.#contest(central, change.value ?? {});
      } else
        outcomes.set(change.id, record.waitsFor > 0 ? { ok: false, reason: waiting(record.waitsFor) } : OK);
    }
    if (refused.length > 0) await this.#db.write((tx) => this.#records.save(tx, refused));
    return outcomes;
  }

  /** In the transaction of the clients: what is stored is in force. */
  async #saved(
    tx: Tx,
    central: CentralRow,
    planned: readonly Planned[],
    ids: ReadonlyMap<number, number>,
  ): Promise<void> {
    const made = [...ids].flatMap(([i, localId]) => {
      const one = planned[i];
      return one ? [{ ...one, localId }] : [];
    });
    const stored = await this.#records.find(
      central.id,
      'client',
      made.map(({ change }) => change.id),
      tx,
    );
    await this.#records.save(
      tx,
      made.map(({ before, record, localId }) => ({
        ...record,
        // Of a deleted one the id stays: its last bytes are on their way.
        localId: localId === 0 ? record.localId : localId,
        // An admin was faster than this write.
        isDrifted: !before.isDrifted && stored.get(record.id)?.isDrifted === true && !record.isGone,
      })),
    );
    await this.#seeds.add(
      tx,
      central,
      made.flatMap(({ before, change: { id, taken, inboundIds }, wanted, localId }) =>
        taken && before.localId === 0 && wanted.id === localId
          ? [{ id, localId, inboundId: inboundIds?.[0] ?? 0, taken }]
          : [],
      ),
    );
    if (made.some(({ before }) => before.waitsFor === NO_WAIT))
      await this.#records.uncontest(tx, 'client', central.guid);
  }

  /** Returns why it cannot be done, or the record of a client that waits. */
  async #plan(
    central: CentralRow,
    record: RecordRow,
    change: Change,
    inbounds: ReadonlyMap<number, number>,
  ): Promise<Planned | Waiting | string> {
    const managed = new Set(inbounds.values());
    const at = this.#clock.now();
    const here = record.localId > 0 ? this.#clients.byId(record.localId) : undefined;
    if (change.value === null && change.release === true)
      return {
        waits: {
          ...{ ...accepted(record, change, at), isGone: true, contestedBy: '', inboundIds: '' },
          localId: 0,
        },
      };
    if (change.value === null)
      return {
        change,
        before: record,
        wanted: { id: here?.id, client: null, inboundIds: [], managed },
        record: { ...accepted(record, change, at), isGone: true, contestedBy: '', inboundIds: '' },
      };
    const { period: sent, ...value } = change.value;
    const period = Number.isSafeInteger(sent) && (sent as number) > 0 ? (sent as number) : 0;
    const same = here ?? (await this.#same(central, value));
    if (typeof same === 'string') return same;
    const wantedIn = [...new Set(change.inboundIds ?? [])];
    const missing = wantedIn.find((id) => !inbounds.has(id));
    const inboundIds = wantedIn.flatMap((id) => inbounds.get(id) ?? []);
    const expiry = value['expiryTime'];
    const row: RecordRow = {
      ...(missing === undefined
        ? accepted(record, change, at)
        : refusedBy(record, change, waiting(missing), at)),
      waitsFor: missing ?? 0,
      contestedBy: record.contestedBy,
      inboundIds: wantedIn.length === 0 ? '' : `,${wantedIn.join(',')},`,
      startedFrom: typeof expiry === 'number' && expiry < 0 ? expiry : 0,
      period,
    };
    // What an adopted one uses through an inbound that is not here yet would be told to nobody.
    const isAdopted = change.taken !== undefined && record.localId === 0;
    if (missing !== undefined && (isAdopted || (inboundIds.length === 0 && !same))) return { waits: row };
    return {
      change,
      before: record,
      record: row,
      wanted: {
        id: same?.id,
        client: withOurInbounds(value, inbounds),
        inboundIds,
        managed,
        isNewPeriod: record.version > 0 && period > record.period,
        startedFrom: record.startedFrom,
      },
    };
  }

  /** Notes at the records of other centrals that this one claims what is theirs. */
  async #contest(central: CentralRow, { subId, uuid, id, email }: Value): Promise<void> {
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    const rivals = [
      this.#clients.byEmail(text(email)),
      text(subId) && this.#clients.owner('subId', text(subId)),
      text(uuid || id) && this.#clients.owner('uuid', text(uuid || id)),
    ];
    for (const rival of rivals) {
      const owner = rival ? await this.#records.owner('client', rival.id) : undefined;
      if (owner && owner.central !== central.id) await this.#contestWith(owner, central.guid);
    }
  }

  async #contestWith(owner: RecordRow, contestedBy: string): Promise<void> {
    if (owner.contestedBy !== contestedBy)
      await this.#db.write((tx) => this.#records.contest(tx, owner, contestedBy));
  }

  /** The client that it is already: with its email, and its UUID or subscription. Returns why it cannot be that one. */
  async #same(central: CentralRow, value: Value): Promise<ClientRow | string | undefined> {
    const { email, subId, uuid, id } = value;
    const row = typeof email === 'string' ? this.#clients.byEmail(email) : undefined;
    if (!row) return undefined;
    const owner = await this.#records.owner('client', row.id);
    if (owner && owner.central !== central.id) {
      await this.#contestWith(owner, central.guid);
      return `the client ${row.email} is here already, managed by ${this.#centrals.guidOf(owner.central)}`;
    }
    // Another record of this central: it is told that the email is taken.
    if (owner) return undefined;
    const isSame = subId === row.subId || String(uuid ?? id ?? '').toLowerCase() === row.uuid;
    return isSame
      ? row
      : `a client ${row.email} with another subId and UUID is here already, and no central manages it; send its subId to adopt it`;
  }
}

export const waiting = (inboundId: number): string => `waits for the inbound ${inboundId}`;

/** What a client has in one inbound only is sent by the central's ids. */
function withOurInbounds(value: Value, inbounds: ReadonlyMap<number, number>): Value {
  const { credentials } = value;
  if (!Array.isArray(credentials)) return value;
  return {
    ...value,
    credentials: credentials.flatMap((one: unknown) => {
      const { inboundId, ...rest } = (one ?? {}) as { readonly inboundId?: unknown };
      const own = inbounds.get(inboundId as number);
      return own === undefined ? [] : [{ ...rest, inboundId: own }];
    }),
  };
}
