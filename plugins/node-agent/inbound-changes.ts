// Inbounds as a central wants them: added, adopted, changed or deleted through the edits of the plugin that owns them.
import type { Clock, Database, Tx } from '../../kernel/index.js';
import {
  type Inbound,
  type InboundEditsApi,
  type InboundsApi,
  initialFields,
  isUnspecified,
} from '../inbounds/contract.js';
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
import type { FallbackChanges } from './fallback-changes.js';
import { principalOf } from './principal.js';
import { MOST_INBOUNDS, MOST_RECORDS, newRecord, type Records } from './records.js';
import type { CentralRow, RecordRow } from './tables.js';
import type { UsageJournal } from './usage-journal.js';

/** What belongs to the panel that sends it. */
const FOREIGN = [
  ...['id', 'nodeId', 'originNodeGuid', 'clientStats', 'up', 'down', 'state', 'fallbackParent', 'fallbacks'],
];
type Fields = Parameters<InboundEditsApi['update']>[1] & { readonly tag?: string; readonly listen?: string };

export class InboundChanges {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #inbounds: InboundsApi;
  readonly #edits: InboundEditsApi;
  readonly #records: Records;
  readonly #centrals: Centrals;
  readonly #fallbacks: FallbackChanges;
  readonly #journal: UsageJournal;

  constructor(needs: {
    db: Database;
    clock: Clock;
    inbounds: InboundsApi;
    inboundEdits: InboundEditsApi;
    records: Records;
    centrals: Centrals;
    fallbackChanges: FallbackChanges;
    journal: UsageJournal;
  }) {
    this.#journal = needs.journal;
    this.#fallbacks = needs.fallbackChanges;
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#inbounds = needs.inbounds;
    this.#edits = needs.inboundEdits;
    this.#records = needs.records;
    this.#centrals = needs.centrals;
  }

  async make(central: CentralRow, change: Change): Promise<Outcome> {
    const found = await this.#records.find(central.id, 'inbound', [change.id]);
    const record = found.get(change.id) ?? newRecord(central.id, 'inbound', change.id);
    if (!isDue(record, change)) return alreadyThere(record, change);
    if (found.size === 0 && (await this.#isFull(central.id)))
      return {
        ok: false,
        reason: `this central has ${MOST_INBOUNDS} inbounds or ${MOST_RECORDS} records here already`,
      };
    if (change.value === null) return this.#delete(central, record, change);
    if (isTooLong(change)) return this.#refuse(record, change, TOO_LONG);
    const fields = fieldsOf(change.value);
    try {
      return await this.#save(central, record, change, fields);
    } catch (error) {
      const reason = reasonOf(error);
      await this.#contest(central, fields, record.localId);
      return this.#refuse(record, change, reason);
    }
  }

  async #isFull(central: number): Promise<boolean> {
    const inbounds = await this.#records.countInbounds(central);
    return inbounds >= MOST_INBOUNDS || (await this.#records.count(central)) >= MOST_RECORDS;
  }

  /** The inbound first: after a crash between the two the same change finds nothing to delete. */
  async #delete(central: CentralRow, record: RecordRow, change: Change): Promise<Outcome> {
    const isReleased = change.release === true;
    if (!isReleased && this.#local(record))
      await this.#edits.delete(record.localId, principalOf(central.guid));
    await this.#db.write(async (tx) => {
      const gone = { ...accepted(record, change, this.#clock.now()), isGone: true, contestedBy: '' };
      await this.#records.save(tx, [isReleased ? { ...gone, localId: 0 } : gone]);
      // It no longer claims anything with this record; other claims are found again when they are tried again.
      if (record.refused !== '') await this.#records.uncontest(tx, 'inbound', central.guid);
    });
    return OK;
  }

  async #save(central: CentralRow, record: RecordRow, change: Change, fields: Fields): Promise<Outcome> {
    const who = principalOf(central.guid);
    const own = this.#local(record);
    // Polls name the inbounds as they are here, and it gets another id.
    if (!own && record.localId > 0) await this.#journal.move();
    const same = own ?? this.#adopted(change, fields) ?? this.#same(fields);
    if (same && !own && this.#inbounds.placeOf(same).guid === central.guid)
      return this.#refuse(
        record,
        change,
        `the inbound ${same.tag} runs at the central itself: a loop of nodes`,
      );
    if (!own && same) {
      const owner = await this.#records.owner('inbound', same.id);
      if (owner && owner.central !== central.id) await this.#contest(central, fields, 0);
      if (owner) {
        const by =
          owner.central === central.id ? `as your inbound ${owner.id}` : this.#centrals.guidOf(owner.central);
        return this.#refuse(record, change, `the inbound ${same.tag} is here already, managed by ${by}`);
      }
    }
    const done = (localId: number): RecordRow => ({
      ...accepted(record, change, this.#clock.now()),
      localId,
    });
    let localId = same?.id ?? 0;
    if (same) {
      // A crash before the record is stored makes the same change twice, which changes nothing more.
      await this.#edits.update(same.id, fields, who);
      await this.#db.write((tx) => this.#saved(tx, central, record, done(same.id)));
    } else
      ({ id: localId } = await this.#edits.add(fields as Parameters<InboundEditsApi['add']>[0], who, {
        also: (tx, inbound) => this.#saved(tx, central, record, done(inbound.id)),
      }));
    const problem = await this.#fallbacks.problemOf(central, localId, change.value?.['fallbacks']);
    return problem === '' ? OK : this.#refuse(done(localId), change, problem);
  }

  async #saved(tx: Tx, central: CentralRow, before: RecordRow, record: RecordRow): Promise<void> {
    await this.#records.save(tx, [record]);
    if (before.refused !== '') await this.#records.uncontest(tx, 'inbound', central.guid);
  }

  #local({ localId }: RecordRow): Inbound | undefined {
    return localId > 0 ? this.#inbounds.get(localId) : undefined;
  }

  /** The inbound that the central has seen here. It may be one of a node of this panel. */
  #adopted({ adopts = 0 }: Change, { protocol }: Fields): Inbound | undefined {
    const inbound = this.#inbounds.get(adopts);
    return inbound?.protocol === protocol ? inbound : undefined;
  }

  /** The inbound of this machine that it is already: with its tag, or in its place. */
  #same({ tag = '', port, protocol, listen = '' }: Fields): Inbound | undefined {
    const here = this.#inbounds.list().filter(isHere);
    return (
      (tag === '' ? undefined : here.find((inbound) => inbound.tag === tag)) ??
      here.find(
        (inbound) =>
          inbound.port === port &&
          port !== 0 &&
          inbound.protocol === protocol &&
          (inbound.listen === listen || (isUnspecified(inbound.listen) && isUnspecified(listen))),
      )
    );
  }

  /** Notes at the records of other centrals that this one claims their tag or port. */
  async #contest(central: CentralRow, { tag = '', port }: Fields, ownId: number): Promise<void> {
    const rivals = this.#inbounds
      .list()
      .filter(
        (one) => one.id !== ownId && ((tag !== '' && one.tag === tag) || (port !== 0 && one.port === port)),
      );
    for (const { id } of rivals) {
      const owner = await this.#records.owner('inbound', id);
      if (owner && owner.central !== central.id && owner.contestedBy !== central.guid)
        await this.#db.write((tx) => this.#records.contest(tx, owner, central.guid));
    }
  }

  async #refuse(record: RecordRow, change: Change, reason: string): Promise<Outcome> {
    if (record.version !== change.version || record.refused !== reason)
      await this.#db.write((tx) =>
        this.#records.save(tx, [refusedBy(record, change, reason, this.#clock.now())]),
      );
    return { ok: false, reason };
  }
}

/** Not an inbound of a node of this panel. */
const isHere = (inbound: Inbound & { readonly nodeId?: number | null }): boolean =>
  (inbound.nodeId ?? null) === null;

/** All fields, because the value is the whole record. Clients come as records of their own. */
function fieldsOf(value: Readonly<Record<string, unknown>>): Fields {
  const own = Object.fromEntries(Object.entries(value).filter(([name]) => !FOREIGN.includes(name)));
  // Where it runs is decided here: it may be on a node of this panel.
  const { nodeId: _, ...initial } = initialFields;
  return { ...initial, ...own, settings: withoutClients(own['settings']) } as Fields;
}

function withoutClients(settings: unknown): unknown {
  const read = typeof settings === 'string' ? parsed(settings) : settings;
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return read ?? {};
  const { clients: _, ...rest } = read as Record<string, unknown>;
  return rest;
}
/** The schema refuses what is not valid JSON, with its words. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
