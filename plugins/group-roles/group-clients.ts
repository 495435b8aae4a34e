// What an admin of groups does with clients. Each edit is one write, in which role and group are looked at again: the role
// may have changed, and the client may have been moved.
import type { Principal, Tx } from '../../kernel/index.js';
import {
  type SettledEdit,
  type SettledEditsApi,
  type Settlement,
  type SomeClientRenewal,
  sentFields,
  withNote,
} from '../clients/contract.js';
import type { GroupRole } from '../roles/contract.js';
import { errors } from './errors.js';
import type { GroupClientChanges, NewGroupClient } from './schemas.js';
import { type GroupScope, type GroupScopes, noClient } from './scope.js';

/** Of `once`: called inside the write with what the caller will be answered. */
type Note = ((done: SettledEdit) => void) | undefined;

const NOTHING = async (): Promise<void> => undefined;

function requireGroup({ groups }: GroupRole, group: string): void {
  if (!groups.includes(group))
    throw errors.NOT_YOUR_GROUP(`group: your role does not name the group ${JSON.stringify(group)}`, {
      path: 'group',
    });
}

export class GroupClients {
  readonly #scopes: GroupScopes;
  readonly #edits: SettledEditsApi;

  constructor(needs: { scopes: GroupScopes; settled: SettledEditsApi }) {
    this.#scopes = needs.scopes;
    this.#edits = needs.settled;
  }

  async add(scope: GroupScope, sent: NewGroupClient, who: Principal, note: Note): Promise<SettledEdit> {
    const { inboundIds, ...fields } = sent;
    const known = scope.inboundIds();
    const other = inboundIds.find((id) => !known.has(id));
    if (other !== undefined)
      throw errors.NOT_YOUR_INBOUND(`inboundIds: no client of your groups is in the inbound ${other}`, {
        path: 'inboundIds',
      });
    const before = async (tx: Tx) => requireGroup(await this.#scopes.toWrite(tx, who), sent.group);
    const settlement = withNote({ before, after: NOTHING }, note);
    return this.#edits.add({ client: sentFields(fields), inboundIds }, who, settlement);
  }

  async update(
    scope: GroupScope,
    id: number,
    sent: GroupClientChanges,
    who: Principal,
    note: Note,
  ): Promise<SettledEdit> {
    scope.find(id);
    return this.#edits.change(
      id,
      { patch: sentFields(sent) },
      who,
      this.#settlement(id, who, note, sent.group),
    );
  }

  async reset(scope: GroupScope, id: number, who: Principal, note: Note): Promise<SettledEdit> {
    scope.find(id);
    return this.#edits.change(id, { resets: true }, who, this.#settlement(id, who, note));
  }

  async renew(
    scope: GroupScope,
    id: number,
    sent: SomeClientRenewal,
    who: Principal,
    note: Note,
  ): Promise<SettledEdit> {
    scope.find(id);
    return this.#edits.renew(id, sent, who, this.#settlement(id, who, note));
  }

  async delete(scope: GroupScope, id: number, who: Principal): Promise<SettledEdit> {
    scope.find(id);
    return this.#edits.delete(id, who, this.#settlement(id, who, undefined));
  }

  /** `to`: the group that the client comes into. */
  #settlement(id: number, who: Principal, note: Note, to?: string): Settlement {
    const before = async (tx: Tx) => {
      const role = await this.#scopes.toWrite(tx, who);
      const group = await this.#edits.groupOf(tx, id);
      if (group === undefined || !role.groups.includes(group)) throw noClient(id);
      if (to !== undefined) requireGroup(role, to);
    };
    return withNote({ before, after: NOTHING }, note);
  }
}
