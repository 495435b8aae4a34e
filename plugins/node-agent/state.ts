// What a central reads to compare: one digest of all its records, digests by bucket, and the records themselves.
import type { Centrals } from './centrals.js';
import type { Epochs } from './epochs.js';
import { BUCKETS, digestOf, digestOfAll, type RecordState, stateOf } from './record-digest.js';
import type { Records } from './records.js';
import type { RecordKind, RecordRow } from './tables.js';

/** Records of one page. */
const PAGE = 2_000;

export interface ToldRecord {
  readonly kind: RecordKind;
  readonly id: number;
  readonly version: number;
  readonly state: RecordState;
  readonly refused?: string;
  /** guid of another central that claims it */
  readonly contestedBy?: string;
}
export interface RecordPage {
  readonly records: readonly ToldRecord[];
  /** send it as `after` for the next page; blank on the last one */
  readonly next: string;
}

export class AgentState {
  readonly #centrals: Centrals;
  readonly #records: Records;
  readonly #epochs: Epochs;
  /** by central: digests with the revision of their bucket */
  readonly #digests = new Map<number, { readonly revision: number; readonly digest: string }[]>();

  constructor({ centrals, records, epochs }: { centrals: Centrals; records: Records; epochs: Epochs }) {
    this.#centrals = centrals;
    this.#records = records;
    this.#epochs = epochs;
  }

  async summary(guid: string): Promise<{ digest: string; epoch: string }> {
    return { digest: digestOfAll(await this.buckets(guid)), epoch: this.#epochs.current.epoch };
  }

  /** Reads only buckets that changed since the last call. */
  async buckets(guid: string): Promise<string[]> {
    const central = this.#centrals.get(guid);
    const known = this.#digests.get(central.id) ?? [];
    this.#digests.set(central.id, known);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      // Taken before the rows are read: a change meanwhile makes the digest old at once.
      const revision = this.#records.revisions.state.of(central.id, bucket);
      if (known[bucket]?.revision === revision) continue;
      known[bucket] = { revision, digest: digestOf(await this.#records.ofBucket(central.id, bucket)) };
    }
    return known.map(({ digest }) => digest);
  }

  /** Of a bucket all, else inbounds first, then clients, by id. `after` is `next` of the page before, or blank. */
  async page(guid: string, bucket: number | undefined, after: string): Promise<RecordPage> {
    const central = this.#centrals.get(guid);
    const [kind = 'inbound', id = '0'] = after === '' ? [] : (after.split('.') as [RecordKind, string]);
    if (bucket !== undefined) {
      const all = await this.#records.ofBucket(central.id, bucket);
      return { records: all.map(told), next: '' };
    }
    const rows = await this.#records.page(central.id, kind, Number(id), PAGE);
    const records = rows.map(told);
    if (rows.length === PAGE) return { records, next: `${kind}.${rows.at(-1)?.id ?? 0}` };
    return { records, next: kind === 'inbound' ? 'client.0' : '' };
  }
}

const told = ({ kind, id, version, refused, isDrifted, contestedBy }: RecordRow): ToldRecord => ({
  kind,
  id,
  version,
  state: stateOf({ refused, isDrifted }),
  ...(refused !== '' && { refused }),
  ...(contestedBy !== '' && { contestedBy }),
});
