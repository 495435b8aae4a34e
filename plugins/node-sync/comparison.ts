// Compares what a node has with what it should have, by digests, and sends what differs again.
import { TimeSlice } from '../../kernel/index.js';
import { bucketOf, BUCKETS, digestOf, digestOfAll } from '../node-agent/contract.js';
import { NodeCallError, type NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import type { DesiredRecords, Seen } from './desired-records.js';
import { BucketsReply, checked, RecordsReply, SummaryReply } from './replies.js';
import type { RecordKind, RecordRow } from './tables.js';

const PAGE = 5_000;
const STATE = 'panel/api/x/node/state';
/** Pages of one bucket: no node has more. */
const MOST_PAGES = 50;

interface Remote {
  readonly kind: string;
  readonly id: number;
  readonly version: number;
  readonly state: string;
}
type Bucket = Map<string, RecordRow>;
export interface Compared {
  readonly differing: number;
  /** undefined when the node does not know this panel yet */
  readonly offers: string | undefined;
}

const keyOf = ({ kind, id }: { readonly kind: string; readonly id: number }): string => `${kind}.${id}`;
const isKind = (kind: string): kind is RecordKind => kind === 'inbound' || kind === 'client';
/** As the node tells it: what is refused is no difference. */
const digest = (bucket: Bucket): string =>
  digestOf([...bucket.values()].map((row) => ({ ...row, isDrifted: false })));

export class Comparison {
  readonly #nodes: NodesApi;
  readonly #identity: PanelIdentityApi;
  readonly #records: DesiredRecords;

  readonly #adoptions: Pick<AdoptionStore, 'held'>;

  constructor(
    nodes: NodesApi,
    identity: PanelIdentityApi,
    records: DesiredRecords,
    adoptions: Pick<AdoptionStore, 'held'>,
  ) {
    this.#adoptions = adoptions;
    this.#nodes = nodes;
    this.#identity = identity;
    this.#records = records;
  }

  /** Resolves with the number of records that are sent again, and with the digest of what the node offers. Call it while nothing waits to be sent. Rejects with a NodeCallError. */
  async run(nodeId: number): Promise<Compared> {
    const buckets = await this.#own(nodeId);
    const digests = buckets.map(digest);
    let offers: string | undefined;
    try {
      const summary = checked<{ digest: string; offers?: string }>(
        SummaryReply,
        await this.#get(nodeId, STATE),
      );
      offers = summary.offers;
      if (summary.digest === digestOfAll(digests)) return { differing: 0, offers };
    } catch (error) {
      if (!(error instanceof NodeCallError && error.remoteCode === 'NODE_AGENT_UNKNOWN_CENTRAL')) throw error;
      const all = buckets.reduce((sum, { size }) => sum + size, 0);
      if (all > 0) await this.#records.sendAll(nodeId);
      return { differing: all, offers };
    }
    const { digests: theirs } = checked<{ digests: string[] }>(
      BucketsReply,
      await this.#get(nodeId, `${STATE}/buckets`),
    );
    let sent = 0;
    for (const [number, bucket] of buckets.entries())
      if (theirs[number] !== digests[number]) sent += await this.#bucket(nodeId, number, bucket);
    return { differing: sent, offers };
  }

  async #own(nodeId: number): Promise<Bucket[]> {
    const buckets = Array.from({ length: BUCKETS }, (): Bucket => new Map());
    const held = new Set(this.#adoptions.held);
    const slice = new TimeSlice();
    for (const kind of ['inbound', 'client'] as const)
      for (let after = 0; ; ) {
        const rows = await this.#records.page(nodeId, kind, after, PAGE);
        for (const row of rows)
          if (!row.isGone && !(kind === 'inbound' && held.has(row.id)))
            buckets[bucketOf(row.id)]?.set(keyOf(row), row);
        if (slice.isOver) await slice.next();
        if (rows.length < PAGE) break;
        after = rows.at(-1)?.id ?? 0;
      }
    return buckets;
  }

  async #bucket(nodeId: number, number: number, own: Bucket): Promise<number> {
    const remote = new Map<string, Remote>();
    for (let next = '', pages = 0; ; pages++) {
      const page = checked<{ records: Remote[]; next: string }>(
        RecordsReply,
        await this.#get(nodeId, `${STATE}/records`, `&bucket=${number}${next && `&after=${next}`}`),
      );
      for (const record of page.records) remote.set(keyOf(record), record);
      next = page.next;
      if (next === '') break;
      if (pages >= MOST_PAGES) throw new Error('it has more records than it was ever sent');
    }
    const differing: Seen[] = [];
    for (const [key, { kind, id, version, refused }] of own) {
      const theirs = remote.get(key);
      const isSame = theirs?.version === version && theirs.state === (refused === '' ? 'ok' : 'refused');
      if (!isSame) differing.push({ kind, id, version: theirs?.version ?? 0 });
    }
    for (const [key, { kind, id, version }] of remote)
      if (!own.has(key) && isKind(kind)) differing.push({ kind, id, version });
    await this.#records.overtake(nodeId, differing);
    return differing.length;
  }

  async #get(nodeId: number, path: string, query = ''): Promise<unknown> {
    const { obj } = await this.#nodes.call(
      nodeId,
      `${path}?central=${encodeURIComponent(this.#identity.guid)}${query}`,
      {
        timeoutMs: 30_000,
      },
    );
    return obj;
  }
}
