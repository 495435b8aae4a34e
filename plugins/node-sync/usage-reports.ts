// Tells nodes what their clients used elsewhere.
import { type Log, messageOf } from '../../kernel/index.js';
import type { NodesApi } from '../nodes/contract.js';
import type { PanelIdentityApi } from '../settings/contract.js';
import type { DesiredRecords } from './desired-records.js';
import type { OtherProtocols } from './other-protocols.js';
import { isReachable } from './synchroniser.js';
import type { UsageByMachine } from './usage-by-machine.js';

const ELSEWHERE = 'panel/api/x/node/elsewhere';
/** Clients of one call. */
const PORTION = 5_000;
const AT_ONCE = 8;

export class UsageReports {
  readonly #nodes: NodesApi;
  readonly #identity: PanelIdentityApi;
  readonly #records: DesiredRecords;
  readonly #usage: UsageByMachine;
  readonly #protocols: OtherProtocols;
  readonly #log: Log;
  /** nodes whose last report failed */
  readonly #failing = new Set<number>();

  constructor(needs: {
    nodes: NodesApi;
    identity: PanelIdentityApi;
    records: DesiredRecords;
    byMachine: UsageByMachine;
    protocols: OtherProtocols;
    log: Log;
  }) {
    this.#nodes = needs.nodes;
    this.#identity = needs.identity;
    this.#records = needs.records;
    this.#usage = needs.byMachine;
    this.#protocols = needs.protocols;
    this.#log = needs.log;
  }

  /** Reports to all nodes; what a node does not take is reported again. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#usage.save();
    const due = [...this.#usage.takeUntold()];
    // Each takes the next one: a node that answers slowly holds one place.
    const next = due.values();
    const work = async (): Promise<void> => {
      for (const [nodeId, ids] of next)
        if (signal.aborted) this.#usage.giveBack(nodeId, ids);
        else await this.#report(nodeId, ids, signal);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, work));
  }

  async #report(nodeId: number, clientIds: readonly number[], signal: AbortSignal): Promise<void> {
    const node = this.#nodes.get(nodeId);
    if (!node) return;
    if (!isReachable(node)) return this.#usage.giveBack(nodeId, clientIds);
    for (let from = 0; from < clientIds.length; from += PORTION) {
      const ids = clientIds.slice(from, from + PORTION);
      try {
        await this.#protocols.call(
          node,
          () => this.#tell(nodeId, ids, signal),
          (protocol) => protocol.report(node, ids),
        );
        this.#failing.delete(nodeId);
      } catch (error) {
        // A node that did not take these is not waited for once more for each portion.
        this.#usage.giveBack(nodeId, clientIds.slice(from));
        if (!this.#failing.has(nodeId))
          this.#log.warn('a node was not told what its clients used elsewhere; it is tried again', {
            node: node.name,
            problem: messageOf(error),
          });
        this.#failing.add(nodeId);
        return;
      }
    }
  }

  async #tell(nodeId: number, ids: readonly number[], signal: AbortSignal): Promise<void> {
    const periods = await this.#records.periods(nodeId, ids);
    const users = ids.flatMap((id) => {
      const period = periods.get(id);
      return period === undefined ? [] : [{ id, period, ...this.#usage.elsewhere(id, nodeId) }];
    });
    await this.#nodes.call(nodeId, ELSEWHERE, {
      method: 'POST',
      json: { central: this.#identity.guid, users },
      takesGzip: true,
      timeoutMs: 30_000,
      signal,
    });
  }
}
