// Clients that were deleted with their traffic kept. What they have open may run on for a while, and the core counts it under their name.
import type { ClientsApi, ClientUsage } from '../clients/contract.js';

type KeptUsage = Omit<ClientUsage, 'clientId'> & { readonly email: string };

export class Departed {
  readonly #clients: Pick<ClientsApi, 'byId' | 'byEmail'>;
  /** email by id, of those whose deletion has been asked for */
  readonly #leaving = new Map<number, string>();
  readonly #gone = new Map<number, string>();
  #epoch = '';

  constructor({ clients }: { clients: Pick<ClientsApi, 'byId' | 'byEmail'> }) {
    this.#clients = clients;
  }

  leave(clients: readonly { readonly id: number; readonly email: string }[], keepTraffic: boolean): void {
    for (const { id, email } of clients) {
      if (keepTraffic) this.#leaving.set(id, email);
      else this.#leaving.delete(id);
    }
  }

  /** It is deleted; false when nothing of it is kept. */
  left(id: number): boolean {
    const email = this.#leaving.get(id);
    this.#leaving.delete(id);
    if (email !== undefined) this.#gone.set(id, email);
    return email !== undefined;
  }

  /** Names of a core that is gone never come back. */
  follow(epoch: string): void {
    if (this.#epoch !== epoch) this.#gone.clear();
    this.#epoch = epoch;
  }

  has(id: number): boolean {
    return this.#gone.has(id);
  }

  /** Whose bytes these are now: of clients that are there, or of an email that has none at the moment. */
  sort(usage: readonly ClientUsage[]): { live: readonly ClientUsage[]; kept: readonly KeptUsage[] } {
    if (!usage.some(({ clientId }) => this.#gone.has(clientId))) return { live: usage, kept: [] };
    const live: ClientUsage[] = [];
    const kept: KeptUsage[] = [];
    for (const { clientId, ...bytes } of usage) {
      const email = this.#gone.get(clientId);
      const heir = email === undefined ? undefined : this.#clients.byEmail(email);
      if (email === undefined || heir) live.push({ clientId: heir?.id ?? clientId, ...bytes });
      else kept.push({ email, ...bytes });
    }
    return { live, kept };
  }
}
