// Clients that were deleted with their traffic kept. Connections that are still open move bytes, and the core counts them under the old id.
import type { Tx } from '../../kernel/index.js';
import type { ClientsApi, ClientUsage } from '../clients/contract.js';

type KeptUsage = Omit<ClientUsage, 'clientId'> & { readonly email: string };
interface Divided {
  readonly live: readonly ClientUsage[];
  readonly kept: readonly KeptUsage[];
}

export class DeletedClients {
  readonly #clients: Pick<ClientsApi, 'byId' | 'byEmail'>;
  /** email by id; of clients that are being deleted too, as a plugin may still refuse that */
  readonly #emails = new Map<number, string>();
  #epoch = '';

  constructor({ clients }: { clients: Pick<ClientsApi, 'byId' | 'byEmail'> }) {
    this.#clients = clients;
  }

  /** Call it before they are deleted. */
  expect(clients: readonly { readonly id: number; readonly email: string }[], keepTraffic: boolean): void {
    for (const { id, email } of clients) {
      if (keepTraffic) this.#emails.set(id, email);
      else this.#emails.delete(id);
    }
  }

  /** Call it with each reading: a new core has no counters of deleted clients. */
  forgetIfNew(epoch: string): void {
    if (this.#epoch !== epoch)
      for (const id of this.#emails.keys()) if (!this.#clients.byId(id)) this.#emails.delete(id);
    this.#epoch = epoch;
  }

  has(id: number): boolean {
    return this.#emails.has(id) && !this.#clients.byId(id);
  }

  /** Divides bytes: those of clients, and those that no client has. A deleted client's bytes belong to the client that has its email now. */
  divide(usage: readonly ClientUsage[], isGone = (id: number): boolean => this.has(id)): Divided {
    if (!usage.some(({ clientId }) => isGone(clientId))) return { live: usage, kept: [] };
    const live: ClientUsage[] = [];
    const kept: KeptUsage[] = [];
    for (const { clientId, ...bytes } of usage) {
      const email = isGone(clientId) ? this.#emails.get(clientId) : undefined;
      const successor = email === undefined ? undefined : this.#clients.byEmail(email);
      if (email === undefined || successor) live.push({ clientId: successor?.id ?? clientId, ...bytes });
      else kept.push({ email, ...bytes });
    }
    return { live, kept };
  }

  /** The same in the transaction that writes the bytes: a client may have been deleted since they were read, and memory follows later. */
  async divideIn(tx: Tx, usage: readonly ClientUsage[]): Promise<Divided> {
    const ids = new Set(usage.map(({ clientId }) => clientId).filter((id) => this.#emails.has(id)));
    if (ids.size === 0) return { live: usage, kept: [] };
    const rows = await tx.query<{ id: number }>('SELECT id FROM clients WHERE id IN (:ids)', {
      ids: [...ids],
    });
    for (const { id } of rows) ids.delete(id);
    return this.divide(usage, (id) => ids.has(id));
  }
}
