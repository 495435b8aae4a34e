// Takes changes from centrals, one call after the other, in an order in which they can succeed.
import { type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { WithheldUsersApi } from '../clients/contract.js';
import type { CountingApi } from '../traffic/contract.js';
import type { Centrals } from './centrals.js';
import { type Change, type Outcome, waitingChange } from './change.js';
import type { ClientChanges } from './client-changes.js';
import type { InboundChanges } from './inbound-changes.js';
import type { Records } from './records.js';
import type { CentralRow, RecordKind } from './tables.js';

/** Clients of one transaction: other writes go between two of them. */
const PORTION = 250;
/** Refused records that one look tries again. */
const RETRIED_INBOUNDS = 20;
const RETRIED_CLIENTS = 500;
/** after each call that changed clients: a name may be free now */
const RETRIED_AT_ONCE = 20;

export interface Result extends Outcome {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
}
type SentChange = Omit<Change, 'kind'> & { readonly kind: string };
const BY = 'node-agent';
const NONE: ReadonlySet<number> = new Set();
const KINDS: readonly string[] = ['inbound', 'client'] satisfies RecordKind[];
const isKnown = (change: SentChange): change is Change => KINDS.includes(change.kind);
const keyOf = ({ kind, id }: { readonly kind: string; readonly id: number }): string => `${kind}.${id}`;

export class Changes {
  readonly #log: Log;
  readonly #centrals: Centrals;
  readonly #records: Records;
  readonly #inbounds: InboundChanges;
  readonly #clients: ClientChanges;
  readonly #counting: CountingApi;
  readonly #withheld: WithheldUsersApi;
  readonly #queue = new SerialQueue();
  /** where the next look at refused clients begins, by central */
  readonly #next = new Map<number, number>();
  /** the same for inbounds */
  readonly #nextInbound = new Map<number, number>();

  constructor(needs: {
    log: Log;
    centrals: Centrals;
    records: Records;
    inboundChanges: InboundChanges;
    clientChanges: ClientChanges;
    counting: CountingApi;
    withheld: WithheldUsersApi;
  }) {
    this.#log = needs.log;
    this.#centrals = needs.centrals;
    this.#records = needs.records;
    this.#inbounds = needs.inboundChanges;
    this.#clients = needs.clientChanges;
    this.#counting = needs.counting;
    this.#withheld = needs.withheld;
  }

  /** Returns what became of each change, in their order. `progressed` is called after each portion. */
  make(guid: string, sent: readonly SentChange[], progressed: () => void): Promise<Result[]> {
    return this.#queue.run(async () => {
      const central = await this.#centrals.greet(guid);
      const outcomes = await this.#make(central, newest(sent), progressed);
      return sent.map((change) => ({
        kind: change.kind,
        id: change.id,
        version: change.version,
        ...(outcomes.get(keyOf(change)) ?? {
          ok: false,
          reason: `this panel has no records of the kind ${change.kind}`,
        }),
      }));
    });
  }

  /** Forgets a central, after the calls that run. */
  release(guid: string): Promise<void> {
    return this.#queue.run(() => this.#centrals.release(guid));
  }

  async #make(
    central: CentralRow,
    changes: readonly Change[],
    progressed: () => void,
  ): Promise<Map<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    const clients = changes.filter(({ kind }) => kind === 'client');
    const inbounds = changes.filter(({ kind }) => kind === 'inbound');
    const makeClients = async (list: readonly Change[]): Promise<void> => {
      const here = await this.#records.inbounds(central.id);
      for (let from = 0; from < list.length; from += PORTION) {
        const made = await this.#clients.make(central, list.slice(from, from + PORTION), here);
        for (const [id, outcome] of made) outcomes.set(keyOf({ kind: 'client', id }), outcome);
        progressed();
      }
    };
    // Deletions give names, tags and ports free.
    const gone = clients.filter(({ value }) => value === null);
    await this.#deletions(central, gone, () => makeClients(gone));
    const before = inbounds.length > 0 ? await this.#records.inbounds(central.id) : new Map<number, number>();
    for (const change of inbounds.toSorted((a, b) => turnOf(a) - turnOf(b))) {
      outcomes.set(keyOf(change), await this.#inbounds.make(central, change));
      progressed();
    }
    await makeClients(clients.filter(({ value }) => value !== null));
    if (inbounds.length > 0) await this.#arrived(central, before, progressed);
    if (clients.length > 0) await this.#retryClients(central, RETRIED_AT_ONCE);
    return outcomes;
  }

  /**
   * A client that goes here may live on at its central, so all its bytes count: the core loses it first, then comes a poll,
   * and then the deletion. A `kill -9` between two of these steps loses nothing either: the central sends the deletion again.
   */
  async #deletions(central: CentralRow, gone: readonly Change[], make: () => Promise<void>): Promise<void> {
    if (gone.length === 0) return;
    const clients = await this.#clients.going(central, gone, await this.#records.inbounds(central.id));
    if (clients.size === 0) return make();
    try {
      await this.#withheld.replace(BY, { clients, inbounds: NONE });
      await this.#counting.count().catch((error: unknown) => {
        this.#log.warn('the last bytes of clients that are deleted could not be counted', {
          reason: messageOf(error),
        });
      });
      await make();
    } finally {
      // Those that could not be deleted are served again.
      await this.#withheld.replace(BY, { clients: NONE, inbounds: NONE });
    }
  }

  /** Clients that waited for inbounds which are here now. */
  async #arrived(
    central: CentralRow,
    before: ReadonlyMap<number, number>,
    progressed: () => void,
  ): Promise<void> {
    const here = await this.#records.inbounds(central.id);
    for (const id of here.keys()) {
      if (before.has(id)) continue;
      for (let after = 0; ; ) {
        const waiting = await this.#records.refused(central.id, 'client', {
          wantedIn: id,
          after,
          limit: PORTION,
        });
        if (waiting.length === 0) break;
        await this.#clients.make(central, waiting.map(waitingChange), here);
        after = waiting.at(-1)?.id ?? 0;
        progressed();
      }
    }
  }

  /** Tries refused records again: what was in their way may be gone. */
  retry(signal?: AbortSignal): Promise<void> {
    if (this.#centrals.isEmpty) return Promise.resolve();
    return this.#queue.run(async () => {
      for (const central of this.#centrals.list()) {
        if (signal?.aborted) return;
        try {
          await this.#retryInbounds(central);
          await this.#retryClients(central, RETRIED_CLIENTS);
        } catch (error) {
          this.#log.warn('refused records of a central could not be tried again', {
            central: central.guid,
            reason: messageOf(error),
          });
        }
      }
    });
  }

  async #retryInbounds(central: CentralRow): Promise<void> {
    const after = this.#nextInbound.get(central.id) ?? 0;
    const limit = RETRIED_INBOUNDS;
    const refused = await this.#records.refused(central.id, 'inbound', { after, limit });
    this.#nextInbound.set(central.id, refused.length < limit ? 0 : (refused.at(-1)?.id ?? 0));
    if (refused.length === 0) return;
    const before = await this.#records.inbounds(central.id);
    for (const record of refused)
      if (record.wanted !== '') await this.#inbounds.make(central, waitingChange(record));
    await this.#arrived(central, before, () => undefined);
  }

  async #retryClients(central: CentralRow, limit: number): Promise<void> {
    const after = this.#next.get(central.id) ?? 0;
    const refused = await this.#records.refused(central.id, 'client', { after, limit });
    this.#next.set(central.id, refused.length < limit ? 0 : (refused.at(-1)?.id ?? 0));
    if (refused.length === 0) return;
    const here = await this.#records.inbounds(central.id);
    const changes = refused.filter(({ wanted }) => wanted !== '').map(waitingChange);
    for (let from = 0; from < changes.length; from += PORTION)
      await this.#clients.make(central, changes.slice(from, from + PORTION), here);
  }
}

/** Deletions give ports free; those with fallbacks need the inbounds to which they lead. */
function turnOf({ value }: Change): number {
  const fallbacks = value?.['fallbacks'];
  return value === null ? 0 : Array.isArray(fallbacks) && fallbacks.length > 0 ? 2 : 1;
}

/** The newest of several changes of a record. */
function newest(sent: readonly SentChange[]): Change[] {
  const latest = new Map<string, Change>();
  for (const change of sent) {
    if (!isKnown(change)) continue;
    const known = latest.get(keyOf(change));
    if (!known || change.version >= known.version) latest.set(keyOf(change), change);
  }
  return [...latest.values()];
}
