// Clients as another panel that manages them wants them to be: a list of whole states, of which each is reached or refused
// by itself.
import {
  type Clock,
  type Database,
  inspectInSlices,
  kernelErrors,
  PanelError,
  type Principal,
  storageFailure,
  TimeSlice,
  type Tx,
  sentenceOf,
} from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { WantedClient, WantedOutcome } from '../contract.js';
import type { ClientCredentials } from '../credentials/client-credentials.js';
import { sentCredentials } from '../credentials/sent.js';
import type { ClientStore } from '../model/client-store.js';
import { changedFields } from '../model/field-changes.js';
import { declaredFields, emailKey, refuseHiddenIn, sentFields, uniqueFields } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';
import { NewClient } from '../model/schema.js';
import type { ClientService } from './client-service.js';
import type { ClientWriter } from './client-writer.js';
import type { ClientEdit } from './edit.js';
import { newBatch, refuseTaken, type TakenInBatch } from './uniqueness.js';
import type { Changes, WriteRequest } from './write-request.js';

type Also = (tx: Tx, made: ReadonlyMap<number, number>) => Promise<void>;
interface Item {
  readonly index: number;
  readonly wanted: WantedClient;
}
/** A write, and what it makes of which items. */
interface Step {
  readonly request: WriteRequest;
  readonly made: (changes: Changes) => ReadonlyMap<number, number>;
}

const GENERATED = new Set<string>(uniqueFields);
/** What a field has that was left out. Names and credentials stay as they are. */
const INITIAL = Object.fromEntries(
  sentFields.filter((name) => !GENERATED.has(name)).map((name) => [name, declaredFields[name].initial]),
);

export class WantedClients {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #inbounds: InboundsApi;
  readonly #store: ClientStore;
  readonly #service: ClientService;
  readonly #writer: ClientWriter;
  readonly #credentials: ClientCredentials;

  constructor(needs: {
    db: Database;
    clock: Clock;
    inbounds: InboundsApi;
    store: ClientStore;
    service: ClientService;
    writer: ClientWriter;
    credentials: ClientCredentials;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#inbounds = needs.inbounds;
    this.#store = needs.store;
    this.#service = needs.service;
    this.#writer = needs.writer;
    this.#credentials = needs.credentials;
  }

  async make(wanted: readonly WantedClient[], who: Principal, also: Also): Promise<readonly WantedOutcome[]> {
    const outcomes: WantedOutcome[] = [];
    const items = wanted.map((one, index) => ({ index, wanted: one }));
    // Deletions give names free that others of the list may take.
    const gone = items.filter((item) => item.wanted.client === null);
    const known = items.filter((item) => item.wanted.client !== null && this.#rowOf(item));
    const fresh = items.filter((item) => item.wanted.client !== null && !this.#rowOf(item));
    await this.#write(gone, outcomes, who, also, async (part) => this.#planGone(part));
    await this.#write(known, outcomes, who, also, (part) => this.#planEdits(part, outcomes, who));
    await this.#write(fresh, outcomes, who, also, (part) => this.#planNew(part, outcomes, who));
    return outcomes;
  }

  #rowOf({ wanted: { id } }: Item): ClientRow | undefined {
    return id === undefined ? undefined : this.#store.byId(id);
  }

  /** Writes them in one transaction; if that is refused, one by one. */
  async #write(
    items: readonly Item[],
    outcomes: WantedOutcome[],
    who: Principal,
    also: Also,
    plan: (items: readonly Item[]) => Promise<Step>,
  ): Promise<void> {
    if (items.length === 0) return;
    try {
      await this.#writeStep(await plan(items), outcomes, who, also);
    } catch (error) {
      if (!(error instanceof PanelError) || storageFailure(error)) throw error;
      const [only, ...others] = items;
      if (others.length > 0) {
        for (const item of items)
          if (!outcomes[item.index]) await this.#write([item], outcomes, who, also, plan);
      } else if (only) outcomes[only.index] = { error };
    }
  }

  async #writeStep({ request, made }: Step, outcomes: WantedOutcome[], who: Principal, also: Also) {
    const { run, apply } = await this.#writer.plan(request, who);
    let ids: ReadonlyMap<number, number> = new Map();
    // A failed commit forgets the keys of credentials as well.
    const changes = await this.#credentials.during(() =>
      this.#db.write(async (tx) => {
        const written = await run(tx);
        ids = made(written);
        if (ids.size > 0) await also(tx, ids);
        return written;
      }),
    );
    for (const [index, id] of ids) outcomes[index] = { id };
    await apply(changes);
  }

  /** Those that are attached to further inbounds only lose the managed ones. */
  #planGone(items: readonly Item[]): Step {
    const deleted: ClientRow[] = [];
    const edits: ClientEdit[] = [];
    for (const item of items) {
      const row = this.#rowOf(item);
      if (!row) continue;
      const { managed } = item.wanted;
      if (row.inboundIds.every((id) => managed.has(id))) deleted.push(row);
      else edits.push({ row, detach: row.inboundIds.filter((id) => managed.has(id)) });
    }
    return { request: { deleted, edits }, made: () => new Map(items.map(({ index }) => [index, 0])) };
  }

  async #planEdits(items: readonly Item[], outcomes: WantedOutcome[], who: Principal): Promise<Step> {
    const now = this.#clock.now();
    const valid = await this.#valid(items, outcomes);
    const known = valid.flatMap(({ item, client }) => {
      const row = this.#rowOf(item);
      return row ? [{ item, client: { ...INITIAL, ...client }, row }] : [];
    });
    const patches = await this.#service.prepare(
      known.map(({ client }) => client),
      known.map(({ row }) => ({ before: { ...row }, inboundIds: row.inboundIds })),
      who,
    );
    const edits: ClientEdit[] = [];
    const planned: Item[] = [];
    const batch = newBatch();
    const slice = new TimeSlice();
    for (const [i, { item, client, row }] of known.entries()) {
      if (slice.isOver) await slice.next();
      try {
        edits.push(this.#edit(item.wanted, row, patches[i] ?? client, { now, batch }));
        planned.push(item);
      } catch (error) {
        if (!(error instanceof PanelError)) throw error;
        outcomes[item.index] = { error };
      }
    }
    return {
      request: { edits },
      made: () => new Map(planned.map((item) => [item.index, item.wanted.id ?? 0])),
    };
  }

  #edit(
    { inboundIds, managed, isNewPeriod = false, startedFrom }: WantedClient,
    row: ClientRow,
    sent: Partial<NewClient>,
    { now, batch }: { readonly now: number; readonly batch: TakenInBatch },
  ): ClientEdit {
    const { expiryTime = 0, enable = true } = sent;
    const hasStarted = expiryTime < 0 && expiryTime === startedFrom && row.expiryTime > 0 && !isNewPeriod;
    const patch = { ...sent, enable, expiryTime: hasStarted ? row.expiryTime : expiryTime };
    const attach = inboundIds.filter((id) => !row.inboundIds.includes(id));
    const detach = row.inboundIds.filter((id) => managed.has(id) && !inboundIds.includes(id));
    this.#inbounds.requireForClients(attach, 'inboundIds');
    const fields = changedFields(row, patch, now);
    refuseHiddenIn(fields, '');
    refuseTaken(this.#store.roster, fields, '', { self: row.id, batch });
    const isReset = isNewPeriod && row.up + row.down + row.elsewhereUp + row.elsewhereDown > 0;
    return {
      row,
      fields: isReset ? { ...fields, elsewhereUp: 0, elsewhereDown: 0 } : fields,
      chosen: enable,
      credentials: sentCredentials(patch, ''),
      ...(isReset && { usage: { up: 0, down: 0 } }),
      ...(attach.length > 0 && { attach }),
      ...(detach.length > 0 && { detach }),
    };
  }

  async #planNew(items: readonly Item[], outcomes: WantedOutcome[], who: Principal): Promise<Step> {
    const valid = await this.#valid(items, outcomes);
    const usage = new Map(
      valid.flatMap(({ item: { wanted }, client }) =>
        wanted.used ? [[emailKey(client.email), wanted.used]] : [],
      ),
    );
    const { refused, indexes, request } = await this.#service.planNew(
      valid.map(({ item, client }) => ({ client, inboundIds: [...item.wanted.inboundIds] })),
      who,
      { usage, fromElsewhere: usage.size > 0 },
    );
    const placeOf = (index: number): number => valid[index]?.item.index ?? -1;
    for (const { index, error } of refused) outcomes[placeOf(index)] = { error };
    return {
      request: { ...request, fieldPrefix: '' },
      made: (changes) => {
        for (const { row, error } of changes.refused) outcomes[placeOf(indexes.get(row) ?? -1)] = { error };
        const late = new Set(changes.refused.map(({ row }) => row));
        const written = request.added.filter((row) => !late.has(row));
        return new Map(
          written.map((row, i) => [placeOf(indexes.get(row) ?? -1), changes.added[i]?.id ?? row.id]),
        );
      },
    };
  }

  async #valid(items: readonly Item[], outcomes: WantedOutcome[]) {
    const valid: { readonly item: Item; readonly client: NewClient }[] = [];
    const slice = new TimeSlice();
    for (const item of items) {
      if (slice.isOver) await slice.next();
      const result = await inspectInSlices(NewClient, item.wanted.client);
      if ('value' in result) valid.push({ item, client: result.value });
      else
        outcomes[item.index] = {
          error: kernelErrors.INVALID(sentenceOf(result.issues) + result.more, {
            issues: result.issues,
          }),
        };
    }
    return valid;
  }
}
