// The first call of all to the panel of a node. It may know this panel from an earlier record of the node: what it has of that
// one is given back to it first, so that nothing is deleted there because this panel does not know it.
import { type Database, KeyedQueue } from '../../../kernel/index.js';
import { NodeCallError, type NodesApi } from '../../nodes/contract.js';
import type { DesiredRecords } from '../desired-records.js';
import type { UsageByMachine } from '../usage-by-machine.js';
import type { AdoptionStore } from './adoption-store.js';
import type { OffersOfNodes } from './offers.js';

interface Needs {
  readonly db: Database;
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

  constructor({ db, nodes, adoptions, records, offers, byMachine }: Needs) {
    this.#needs = { db, nodes, adoptions, records, offers, byMachine };
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
      // An admin has accepted another panel, or nothing was sent yet. Else the record is older than this knowledge.
      if (before !== undefined || !(await records.hasSent(nodeId)))
        await offers.releaseAll(nodeId).catch((error: unknown) => {
          const isNew = error instanceof NodeCallError && error.remoteCode === 'NODE_AGENT_UNKNOWN_CENTRAL';
          if (!isNew) throw error;
        });
      await usage.save();
      await db.write(async (tx) => {
        const previous = guid === '' || before !== undefined ? [] : await adoptions.metAs(tx, nodeId, guid);
        for (const id of previous) if (!nodes.get(id)) await usage.moved(tx, id, nodeId);
        await adoptions.meet(tx, nodeId, guid);
      });
    }
    this.#met.set(nodeId, guid);
  }
}
