// Which certificate of this panel a node gets, while two authorities exist.
import type { Authority, AuthorityStore } from './authority-store.js';

export type ClientCertificate = Authority['client'] & { readonly authority: number };

export class ClientCertificates {
  readonly #authorities: AuthorityStore;
  /** the authority that a node trusted last, by the id of the node; forgotten at a restart, and learned again */
  readonly #preferred = new Map<number, number>();

  constructor({ authorities }: { authorities: AuthorityStore }) {
    this.#authorities = authorities;
  }

  /** What to try, in order: what worked last, then the rest; the newest when nothing is known. */
  of(nodeId: number): readonly ClientCertificate[] {
    const all = this.#authorities.list().map(({ id, client }) => ({ ...client, authority: id }));
    const preferred = this.#preferred.get(nodeId);
    return all.sort((a, b) => Number(b.authority === preferred) - Number(a.authority === preferred));
  }

  prefer(nodeId: number, { authority }: ClientCertificate): void {
    if (nodeId !== 0) this.#preferred.set(nodeId, authority);
  }
  /** Lets all nodes get the newest certificate first again. */
  tryNewest(): void {
    this.#preferred.clear();
  }
  /** Ids of nodes that accept only the previous authority, as far as their last calls tell. */
  stillOnPrevious(): readonly number[] {
    const [newest] = this.#authorities.list();
    return [...this.#preferred].flatMap(([id, authority]) => (authority === newest?.id ? [] : [id]));
  }
  forget(nodeId: number): void {
    this.#preferred.delete(nodeId);
  }
}
