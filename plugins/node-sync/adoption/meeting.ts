// The first call of all to the panel of a node. It may know this panel from an earlier record of the node: what it has of that
// one is given back to it first, so that nothing is deleted there because this panel does not know it. What was deleted here
// while it was away is deleted there before, or it would be adopted again.
import { type Database, KeyedQueue } from '../../../kernel/index.js';
import { NodeCallError, type NodesApi } from '../../nodes/contract.js';
import type { PanelIdentityApi } from '../../settings/contract.js';
import type { DesiredRecords } from '../desired-records.js';
import { APPLY } from '../node-sender.js';
import type { UsageByMachine } from '../usage-by-machine.js';
import type { AdoptionStore } from './adoption-store.js';
import type { OffersOfNodes } from './offers.js';

/** Deletions of one call: what a node takes in about a second. */
const PORTION = 500;
const CALL_MS = 60_000;

interface Needs {
  readonly db: Database;
  readonly identity: PanelIdentityApi;
  readonly nodes: NodesApi;
  readonly adoptions: AdoptionStore;
  readonly records: DesiredRecords;
  readonly offers: OffersOfNodes;
  readonly byMachine: UsageByMachine;
}

export class Meeting {
  readonly #needs: Needs;
  /** guids of panels that were met, by node */
  readonly #met = new Map<number, string>();
  /** who sends and who compares may come at once */
  readonly #queue = new KeyedQueue<number>();

  constructor({ db, identity, nodes, adoptions, records, offers, byMachine }: Needs) {
    this.#needs = { db, identity, nodes, adoptions, records, offers, byMachine };
  }

  /** Call it before anything is sent to the node, or compared with it. Rejects with a NodeCallError when it does not answer. */
  with(nodeId: number): Promise<void> {
    const guid = this.#needs.nodes.get(nodeId)?.guid ?? '';
    if (this.#met.get(nodeId) === guid) return Promise.resolve();
    return this.#queue.run(nodeId, () => this.#meet(nodeId, guid));
  }

  forget(nodeId: number): void {
    this.#met.delete(nodeId);
  }

  async #meet(nodeId: number, guid: string): Promise<void> {
    const { db, nodes, adoptions, records, offers, byMachine: usage } = this.#needs;
    const before = await adoptions.metGuid(nodeId);
    if (before !== guid) {
      const known = guid === '' || before !== undefined ? [] : await adoptions.metAs(nodeId, guid);
      const previous = known.filter((id) => !nodes.get(id));
      for (const id of previous) await this.#sendLeft(id, nodeId, guid);
      // An admin has accepted another panel, or nothing was sent yet. Else the record is older than this knowledge.
      if (before !== undefined || !(await records.hasSent(nodeId)))
        await offers.releaseAll(nodeId).catch((error: unknown) => {
          const isNew = error instanceof NodeCallError && error.remoteCode === 'NODE_AGENT_UNKNOWN_CENTRAL';
          if (!isNew) throw error;
        });
      await usage.save();
      await db.write(async (tx) => {
        for (const id of previous) await usage.moved(tx, id, nodeId);
        await adoptions.meet(tx, nodeId, guid);
      });
    }
    this.#met.set(nodeId, guid);
  }

  async #sendLeft(previous: number, nodeId: number, node: string): Promise<void> {
    const { records, nodes, identity } = this.#needs;
    for (;;) {
      const rows = await records.left(previous, PORTION);
      if (rows.length === 0) return;
      const changes = rows.map(({ kind, id, version }) => ({ kind, id, version, value: null }));
      await nodes.call(nodeId, APPLY, {
        method: 'POST',
        json: { central: identity.guid, node, changes },
        timeoutMs: CALL_MS,
      });
      await records.leftAreSent(previous, rows);
    }
  }
}
