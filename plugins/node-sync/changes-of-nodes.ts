// Which records of which nodes a change concerns. Costs what changes, not what there is.
import type { Tx } from '../../kernel/index.js';
import type { ClientChange, ClientRow, ProgramUsersApi } from '../clients/contract.js';
import type { FallbacksApi } from '../fallbacks/contract.js';
import type { InboundChange, InboundsApi } from '../inbounds/contract.js';
import type { DesiredRecords, Mark } from './desired-records.js';
import type { OnceThere } from './once-there.js';

export class ChangesOfNodes {
  readonly #records: DesiredRecords;
  readonly #inbounds: InboundsApi;
  readonly #users: ProgramUsersApi;
  readonly #onceThere: OnceThere;
  readonly #fallbacks: FallbacksApi | undefined;
  readonly #releasing = new Set<number>();

  constructor({
    records,
    inbounds,
    users,
    onceThere,
    fallbacks,
  }: {
    fallbacks: FallbacksApi | undefined;
    records: DesiredRecords;
    inbounds: InboundsApi;
    users: ProgramUsersApi;
    onceThere: OnceThere;
  }) {
    this.#records = records;
    this.#inbounds = inbounds;
    this.#users = users;
    this.#onceThere = onceThere;
    this.#fallbacks = fallbacks;
  }

  /** Inbounds that run on nodes, or did; with those that came or went, their clients. */
  async inboundsSaved(changes: readonly InboundChange[], tx: Tx): Promise<void> {
    const marks: Mark[] = [];
    const leaves = (inboundId: number, nodeId: number): boolean =>
      changes.some(({ before, after }) => before?.id === inboundId && after?.nodeId !== nodeId);
    for (const { before, after } of changes) {
      const id = (after ?? before)?.id ?? 0;
      const [from, to] = [before?.nodeId ?? null, after?.nodeId ?? null];
      const isReleased = this.#releasing.has(id);
      if (from !== null && from !== to)
        marks.push({ nodeId: from, kind: 'inbound', id, isGone: true, isReleased });
      // Of one that is given back, the node keeps them until they are set here.
      if (!after && !isReleased)
        for (const masterId of this.#fallbacks?.mastersOf(id) ?? []) marks.push(...this.#markOf(masterId));
      if (to !== null) marks.push({ nodeId: to, kind: 'inbound', id, isGone: false });
      if (from === to) continue;
      // Memory has the attachments of before, and those that leave with it as they were.
      const others =
        from === null
          ? []
          : this.#inbounds
              .list()
              .filter((one) => one.nodeId === from && one.id !== id && !leaves(one.id, from));
      for (const clientId of this.#users.attached(id)) {
        if (from !== null) {
          const isGone = !others.some((one) => this.#users.isAttached({ inboundId: one.id, clientId }));
          marks.push({ nodeId: from, kind: 'client', id: clientId, isGone, isReleased });
        }
        if (to !== null) marks.push({ nodeId: to, kind: 'client', id: clientId, isGone: false });
      }
    }
    await this.#records.mark(tx, marks);
    this.#onceThere.marked(tx, marks);
  }

  /** Inbounds whose fallbacks changed. */
  async fallbacksSaved(masterIds: readonly number[], tx: Tx): Promise<void> {
    await this.#records.mark(
      tx,
      masterIds.flatMap((id) => this.#markOf(id)),
    );
  }

  #markOf(inboundId: number): Mark[] {
    const nodeId = this.#inbounds.get(inboundId)?.nodeId ?? null;
    return nodeId === null ? [] : [{ nodeId, kind: 'inbound', id: inboundId, isGone: false }];
  }

  /** While `work` runs, an inbound that is deleted here stays on its node, without a central. */
  async releasing<T>(inboundId: number, work: () => Promise<T>): Promise<T> {
    this.#releasing.add(inboundId);
    try {
      return await work();
    } finally {
      this.#releasing.delete(inboundId);
    }
  }

  async clientsSaved(changes: readonly ClientChange[], tx: Tx): Promise<void> {
    const nodeOf = new Map<number, number | null>();
    const nodesOf = (row: Readonly<ClientRow> | undefined): Set<number> => {
      const nodes = new Set<number>();
      for (const id of row?.inboundIds ?? []) {
        if (!nodeOf.has(id)) nodeOf.set(id, this.#inbounds.get(id)?.nodeId ?? null);
        const node = nodeOf.get(id) ?? null;
        if (node !== null) nodes.add(node);
      }
      return nodes;
    };
    const marks: Mark[] = [];
    for (const { before, after, setsUsage = false } of changes) {
      const id = (after ?? before)?.id ?? 0;
      const [from, to] = [nodesOf(before), nodesOf(after)];
      const isNewPeriod =
        setsUsage ||
        (before !== undefined && before.up + before.down > 0 && after?.up === 0 && after.down === 0);
      for (const nodeId of from)
        if (!to.has(nodeId)) marks.push({ nodeId, kind: 'client', id, isGone: true });
      for (const nodeId of to) marks.push({ nodeId, kind: 'client', id, isGone: false, isNewPeriod });
    }
    await this.#records.mark(tx, marks);
    this.#onceThere.marked(tx, marks);
  }
}
