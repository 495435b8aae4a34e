// Tells nodes what happens to their clients on other machines, as far as it is new to them. A node that hears nothing goes on
// alone.
import { type Log, messageOf } from '../../kernel/index.js';
import type { Json, NodeEntry, NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';

/** Portions of one poll; others come with the next. */
const MOST_PORTIONS = 10;

/** A list of changes, by positions of this process. */
export interface News<T> {
  /** of the endpoint at a node */
  readonly path: string;
  /** what a node is not told, for the log */
  readonly about: string;
  /** changes that are looked at for one call */
  readonly portion: number;
  /** Undefined: there are none, because the plugin that knows them is away. */
  changes(
    after: number,
    most: number,
  ): { readonly seq: number; readonly more: boolean; readonly items: readonly T[] } | undefined;
  /** Those that a node is told, as it takes them. */
  told(node: NodeEntry, items: readonly T[]): readonly Json[];
}

export class NodeNews<T> {
  readonly #nodes: Pick<NodesApi, 'call'>;
  readonly #identity: PanelIdentityApi;
  readonly #log: Log;
  readonly #news: News<T>;
  /** by node: what it was told up to, and the guid of the panel there */
  readonly #told = new Map<number, { readonly guid: string; readonly seq: number }>();
  readonly #running = new Set<number>();
  readonly #failing = new Set<number>();

  constructor(needs: { nodes: Pick<NodesApi, 'call'>; identity: PanelIdentityApi; log: Log }, news: News<T>) {
    this.#nodes = needs.nodes;
    this.#identity = needs.identity;
    this.#log = needs.log;
    this.#news = news;
  }

  /** Never rejects. One call at a time: while one runs, another does nothing. */
  async run(node: NodeEntry): Promise<void> {
    if (this.#running.has(node.id)) return;
    this.#running.add(node.id);
    try {
      await this.#portions(node);
      this.#failing.delete(node.id);
    } catch (error) {
      if (!this.#failing.has(node.id))
        this.#log.warn(`a node was not told ${this.#news.about}; it is tried again`, {
          node: node.name,
          problem: messageOf(error),
        });
      this.#failing.add(node.id);
    } finally {
      this.#running.delete(node.id);
    }
  }

  async #portions(node: NodeEntry): Promise<void> {
    const known = this.#told.get(node.id);
    let after = known?.guid === node.guid ? known.seq : 0;
    for (let portion = 0; portion < MOST_PORTIONS; portion++) {
      const changes = this.#news.changes(after, this.#news.portion);
      if (!changes) return;
      const seen = this.#news.told(node, changes.items);
      if (seen.length > 0)
        await this.#nodes.call(node.id, this.#news.path, {
          method: 'POST',
          json: { central: this.#identity.guid, seen },
          takesGzip: true,
        });
      after = changes.seq;
      this.#told.set(node.id, { guid: node.guid, seq: after });
      if (!changes.more) return;
    }
  }

  forget(nodeId: number): void {
    this.#told.delete(nodeId);
  }
}
