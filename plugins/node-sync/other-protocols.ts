// Which nodes speak another protocol than that of `node-agent`: found out when a call of that one fails.
import type { PluginContext } from '../../kernel/index.js';
import { NodeCallError, type NodeEntry } from '../nodes/contract.js';
import { type NodeProtocol, NodeProtocols } from './contract.js';

/** The endpoints are not there, or a narrow token of such a panel forbids what it does not know. Our own refusals have a code. */
const mayBeOther = (error: unknown): error is NodeCallError =>
  error instanceof NodeCallError &&
  (error.code === 'missing' || error.code === 'denied') &&
  error.remoteCode === undefined;

export class OtherProtocols {
  readonly #contributions: PluginContext['contributions'];
  readonly #spoken = new Map<number, NodeProtocol>();

  constructor({ contributions }: Pick<PluginContext, 'contributions'>) {
    this.#contributions = contributions;
  }

  /** From memory; undefined for that of `node-agent`, and while it is not known. */
  of(nodeId: number): NodeProtocol | undefined {
    return this.#spoken.get(nodeId);
  }

  /** Calls the node in its protocol: with `own`, and with `other` if that shows that it speaks another one. */
  async call<T>(
    node: NodeEntry,
    own: () => Promise<T>,
    other: (protocol: NodeProtocol) => Promise<T>,
  ): Promise<T> {
    const known = this.#spoken.get(node.id);
    if (known) return other(known);
    try {
      return await own();
    } catch (error) {
      const found = mayBeOther(error) ? await this.#find(node) : undefined;
      if (!found) throw error;
      return await other(found);
    }
  }

  async #find(node: NodeEntry): Promise<NodeProtocol | undefined> {
    for (const { value: protocol } of this.#contributions(NodeProtocols))
      if (await protocol.speaks(node)) {
        this.#spoken.set(node.id, protocol);
        return protocol;
      }
    return undefined;
  }

  /** It is found out again: another panel, or another version, may answer there. */
  forget(nodeId: number): void {
    this.#spoken.delete(nodeId);
  }
}
