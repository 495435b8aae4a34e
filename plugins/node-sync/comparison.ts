// Compares what a node has with what it should have, by digests, and sends what differs again.
import { TimeSlice } from '../../kernel/index.js';
import { bucketOf, BUCKETS, digestOf, digestOfAll } from '../node-agent/contract.js';
import { NodeCallError, type NodeEntry, type NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { AdoptionStore } from './adoption/adoption-store.js';
import type { NodeProtocol } from './contract.js';
import type { DesiredRecords, Seen } from './desired-records.js';
import type { OtherProtocols } from './other-protocols.js';
import { BucketsReply, checked, RecordsReply, SummaryReply } from './replies.js';
import type { RecordKind, RecordRow } from './tables.js';

/** Rows of one query, which become objects in one go. */
const PAGE = 1_000;
const STATE = 'panel/api/x/node/state';
/** Pages of one bucket: no node has more. */
const MOST_PAGES = 50;
/** Records that are not known here: after a backup of this panel those that came since. */
const MOST_UNKNOWN = 100_000;

const TOO_MANY = 'it has more records than it was ever sent';

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
async function digestsOf(buckets: readonly Bucket[]): Promise<string[]> {
  const slice = new TimeSlice();
  const digests: string[] = [];
  for (const bucket of buckets) {
    if (slice.isOver) await slice.next();
    digests.push(digest(bucket));
  }
  return digests;
}

export class Comparison {
  readonly #nodes: NodesApi;
  readonly #identity: PanelIdentityApi;
  readonly #records: DesiredRecords;
  readonly #protocols: OtherProtocols;
  /** in the comparison that runs, by node */
  readonly #unknown = new Map<number, number>();

  readonly #adoptions: Pick<AdoptionStore, 'held'>;

  constructor(
    nodes: NodesApi,
    identity: PanelIdentityApi,
    records: DesiredRecords,
    adoptions: Pick<AdoptionStore, 'held'>,
    protocols: OtherProtocols,
  ) {
    this.#adoptions = adoptions;
    this.#nodes = nodes;
    this.#identity = identity;
    this.#records = records;
    this.#protocols = protocols;
  }

  /** Resolves with the number of records that are sent again, and with the digest of what the node offers. Call it while nothing waits to be sent. Rejects with a NodeCallError. */
  async run(nodeId: number): Promise<Compared> {
    const node = this.#nodes.get(nodeId);
    if (!node) return { differing: 0, offers: undefined };
    const buckets = await this.#own(nodeId);
    return this.#protocols.call(
      node,
      () => this.#byDigests(nodeId, buckets),
      (protocol) => this.#byProtocol(protocol, node, buckets),
    );
  }

  async #byProtocol(protocol: NodeProtocol, node: NodeEntry, buckets: readonly Bucket[]): Promise<Compared> {
    const desired = buckets.flatMap((bucket) => [...bucket.values()]);
    const differing = await protocol.compare(node, desired);
    await this.#records.overtake(
      node.id,
      differing.map(({ kind, id }) => ({ kind, id, version: 0 })),
    );
    return { differing: differing.length, offers: undefined };
  }

  async #byDigests(nodeId: number, buckets: readonly Bucket[]): Promise<Compared> {
    const digests = await digestsOf(buckets);
    let offers: string | undefined;
    try {
      const summary = await checked<{ digest: string; offers?: string }>(
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
    const { digests: theirs } = await checked<{ digests: string[] }>(
      BucketsReply,
      await this.#get(nodeId, `${STATE}/buckets`),
    );
    this.#unknown.set(nodeId, 0);
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
      const page = await checked<{ records: Remote[]; next: string }>(
        RecordsReply,
        await this.#get(nodeId, `${STATE}/records`, `&bucket=${number}${next && `&after=${next}`}`),
      );
      for (const record of page.records)
        if (bucketOf(record.id) === number) remote.set(keyOf(record), record);
        else throw new Error('it tells records of another bucket than it was asked for');
      if (remote.size > own.size + MOST_UNKNOWN) throw new Error(TOO_MANY);
      next = page.next;
      if (next === '') break;
      if (pages >= MOST_PAGES) throw new Error(TOO_MANY);
    }
    const differing: Seen[] = [];
    for (const [key, { kind, id, version, refused }] of own) {
      const theirs = remote.get(key);
      const isSame = theirs?.version === version && theirs.state === (refused === '' ? 'ok' : 'refused');
      if (!isSame) differing.push({ kind, id, version: theirs?.version ?? 0 });
    }
    for (const [key, { kind, id, version }] of remote)
      if (!own.has(key) && isKind(kind)) differing.push({ kind, id, version });
    const unknown =
      (this.#unknown.get(nodeId) ?? 0) + [...remote.keys()].filter((key) => !own.has(key)).length;
    if (unknown > MOST_UNKNOWN) throw new Error(TOO_MANY);
    this.#unknown.set(nodeId, unknown);
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
