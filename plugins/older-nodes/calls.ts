// Calls that change something on a node, and what a failure of one says.
import { NodeCallError, type NodeCallOptions, type NodesApi } from '../nodes/contract.js';
import type { RemoteStates } from './remote-state.js';

/** The node does not take this change. The words are its own, for display. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}
/** Statuses with which such a panel, or a proxy before it, refuses one body. */
const REFUSES = new Set([400, 409, 413, 415, 422]);
const NOT_FOUND = /not found|no such|does not exist|record not found/i;

/** A refusal of this change, and no failure to reach the panel. */
function isRefusal(error: unknown): error is NodeCallError {
  if (!(error instanceof NodeCallError)) return false;
  return error.code === 'failed'
    ? error.status === undefined || error.status < 500
    : error.code === 'reply' && REFUSES.has(error.status ?? 0);
}
/** It refuses because it has no such inbound or client. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof Refusal && NOT_FOUND.test(error.message);

export class NodeChangeCalls {
  readonly #nodes: NodesApi;
  readonly #states: RemoteStates;

  constructor({ nodes, states }: { nodes: NodesApi; states: RemoteStates }) {
    this.#nodes = nodes;
    this.#states = states;
  }

  /** Resolves with `obj` of the reply. Rejects with a Refusal, or a NodeCallError where the node was not reached. */
  async send(nodeId: number, path: string, options: NodeCallOptions): Promise<unknown> {
    this.#states.sends(nodeId);
    try {
      return (await this.#nodes.call(nodeId, `panel/api/${path}`, options)).obj;
    } catch (error) {
      if (isRefusal(error)) throw new Refusal(error.message, { cause: error });
      // It may have done it all the same.
      this.#states.forget(nodeId);
      throw error;
    } finally {
      this.#states.sends(nodeId);
    }
  }
}
