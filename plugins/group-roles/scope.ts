// Which clients a caller may see: all that is shown to admins of groups, and all that they change, is found here. Nothing
// else in this plugin turns an id that is sent into a client.
import type { Principal, Tx } from '../../kernel/index.js';
import type { CallerRightsApi } from '../access/contract.js';
import type { ClientPagesApi, ClientRow, ClientsApi, PageQuery, SomeClients } from '../clients/contract.js';
import type { GroupRole, GroupRolesApi } from '../roles/contract.js';
import { errors } from './errors.js';

/** In another group, in none, or not there at all: the answer is the same. */
export const noClient = (id: number) =>
  errors.NO_CLIENT(`there is no client with the id ${id} in your groups`, { path: 'id' });

interface Parts {
  readonly clients: Pick<ClientsApi, 'byId'>;
  readonly pages: Pick<ClientPagesApi, 'pageOf' | 'inGroup'>;
}

/** The clients of the groups that one role names. */
export class GroupScope {
  readonly role: GroupRole;
  readonly #groups: ReadonlySet<string>;
  readonly #parts: Parts;

  constructor(role: GroupRole, parts: Parts) {
    this.role = role;
    this.#groups = new Set(role.groups);
    this.#parts = parts;
  }

  #has({ group }: ClientRow): boolean {
    return this.#groups.has(group);
  }

  find(id: number): ClientRow {
    const row = this.#parts.clients.byId(id);
    if (!row || !this.#has(row)) throw noClient(id);
    return row;
  }

  async page(query: PageQuery): Promise<SomeClients> {
    const page = await this.#parts.pages.pageOf(this.#ids(), query);
    // Rows are live: a client may have been moved while the page was made.
    return { ...page, rows: page.rows.filter((row) => this.#has(row)) };
  }

  counts(): { readonly name: string; readonly clients: number }[] {
    return [...this.#groups].map((name) => ({ name, clients: this.#parts.pages.inGroup(name).size }));
  }

  /** Ids of the inbounds that clients of the groups have: costs these clients. */
  inboundIds(): Set<number> {
    // Clients share their lists of inbounds, so each list is read once.
    const lists = new Set(this.#ids().map((id) => this.#parts.clients.byId(id)?.inboundIds ?? []));
    return new Set([...lists].flat());
  }

  /** A copy: a client that is moved from one of the groups to another one must not be met twice. */
  #ids(): number[] {
    return [...this.#groups].flatMap((name) => [...this.#parts.pages.inGroup(name)]);
  }
}

export class GroupScopes {
  readonly #rights: CallerRightsApi;
  readonly #roles: GroupRolesApi;
  readonly #parts: Parts;

  constructor(needs: {
    rights: CallerRightsApi;
    roles: GroupRolesApi;
    clients: ClientsApi;
    pages: ClientPagesApi;
  }) {
    this.#rights = needs.rights;
    this.#roles = needs.roles;
    this.#parts = { clients: needs.clients, pages: needs.pages };
  }

  /** Throws NO_ROLE for a full admin, for other roles and for API tokens. */
  of(who: Principal): GroupScope {
    const role = this.#roles.find(this.#roleOf(who));
    if (!role) throw errors.NO_ROLE();
    return new GroupScope(role, this.#parts);
  }

  /** The role as the transaction sees it; throws unless it may write. Call it first in each write. */
  async toWrite(tx: Tx, who: Principal): Promise<GroupRole> {
    const role = await this.#roles.read(tx, this.#roleOf(who));
    if (!role) throw errors.NO_ROLE();
    if (role.level !== 'write') throw errors.READ_ONLY();
    return role;
  }

  #roleOf(who: Principal): number {
    // A token has the role of its maker beside its own: which of them would be the scope?
    const roles = who.kind === 'session' ? this.#rights.rolesOf(who) : [];
    return roles.length === 1 ? (roles[0] ?? 0) : 0;
  }
}
