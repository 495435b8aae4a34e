// Clients that were deleted with their traffic kept. Connections that are still open move bytes, and the core counts them under the old id.
import type { ClientsApi, ClientUsage } from '../clients/contract.js';

type KeptUsage = Omit<ClientUsage, 'clientId'> & { readonly email: string };

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
  divide(usage: readonly ClientUsage[]): { live: readonly ClientUsage[]; kept: readonly KeptUsage[] } {
    if (!usage.some(({ clientId }) => this.has(clientId))) return { live: usage, kept: [] };
    const live: ClientUsage[] = [];
    const kept: KeptUsage[] = [];
    for (const { clientId, ...bytes } of usage) {
      const email = this.has(clientId) ? this.#emails.get(clientId) : undefined;
      const successor = email === undefined ? undefined : this.#clients.byEmail(email);
      if (email === undefined || successor) live.push({ clientId: successor?.id ?? clientId, ...bytes });
      else kept.push({ email, ...bytes });
    }
    return { live, kept };
  }
}
