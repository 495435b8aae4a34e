// What a reseller may see: all that is shown to him, and all that he changes, is found here. Nothing else in this plugin
// turns an id that he sends into a client.
import type { Principal } from '../../kernel/index.js';
import type { CallerRightsApi } from '../access/contract.js';
import type { ClientPagesApi, ClientRow, ClientsApi, PageQuery, SomeClients } from '../clients/contract.js';
import { errors } from './errors.js';
import type { ResellerMemory } from './reseller-state.js';
import type { Reseller } from './tables.js';

/** The clients of one reseller. */
export class Scope {
  readonly reseller: Reseller;
  readonly #ids: ReadonlySet<number>;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #pages: ClientPagesApi;

  constructor(
    reseller: Reseller,
    ids: ReadonlySet<number>,
    parts: { clients: Pick<ClientsApi, 'byId'>; pages: ClientPagesApi },
  ) {
    this.reseller = reseller;
    this.#ids = ids;
    this.#clients = parts.clients;
    this.#pages = parts.pages;
  }

  /** Whether it is there and another's, or not there at all, the answer is the same. */
  find(id: number): ClientRow {
    const row = this.#ids.has(id) ? this.#clients.byId(id) : undefined;
    if (!row) throw errors.NO_CLIENT(`you have no client with the id ${id}`, { path: 'id' });
    return row;
  }

  async page(query: PageQuery): Promise<SomeClients> {
    const page = await this.#pages.pageOf([...this.#ids], query);
    // A client may have been given to another one while the page was made.
    return { ...page, rows: page.rows.filter(({ id }) => this.#ids.has(id)) };
  }

  get size(): number {
    return this.#ids.size;
  }
}

export class Scopes {
  readonly #rights: CallerRightsApi;
  readonly #memory: ResellerMemory;
  readonly #clients: ClientsApi;
  readonly #pages: ClientPagesApi;

  constructor(needs: {
    rights: CallerRightsApi;
    memory: ResellerMemory;
    clients: ClientsApi;
    pages: ClientPagesApi;
  }) {
    this.#rights = needs.rights;
    this.#memory = needs.memory;
    this.#clients = needs.clients;
    this.#pages = needs.pages;
  }

  /** The reseller that calls; undefined for everybody else. A full admin is none, whatever row he has. */
  callerOf(who: Principal): Reseller | undefined {
    if (who.kind !== 'session' || !this.#rights.isLimited(who)) return undefined;
    return this.#memory.ofAdmin(this.#rights.adminOf(who));
  }

  /** Throws NOT_RESELLER for everybody else. */
  of(who: Principal): Scope {
    const reseller = this.callerOf(who);
    if (!reseller) throw errors.NOT_RESELLER();
    return this.ofReseller(reseller);
  }

  ofReseller(reseller: Reseller): Scope {
    return new Scope(reseller, this.#memory.clientsOf(reseller.id), {
      clients: this.#clients,
      pages: this.#pages,
    });
  }
}
