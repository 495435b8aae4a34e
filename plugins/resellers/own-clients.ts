// What a reseller does with clients: each edit is one write, which the ledger checks and counts.
import type { Principal } from '../../kernel/index.js';
import {
  sentFields,
  type SettledEdit,
  type SettledEditsApi,
  type SomeClientRenewal,
  withNote,
} from '../clients/contract.js';
import type { CountingApi } from '../traffic/contract.js';
import type { Ledger } from './ledger.js';
import type { Scope } from './scope.js';
import type { ClientChanges, NewOwnClient } from './schemas.js';

/** Of `once`: called inside the write with what the caller will be answered. */
type Note = ((done: SettledEdit) => void) | undefined;

export class OwnClients {
  readonly #ledger: Ledger;
  readonly #edits: SettledEditsApi;
  readonly #counting: CountingApi;

  constructor(needs: { ledger: Ledger; edits: SettledEditsApi; counting: CountingApi }) {
    this.#ledger = needs.ledger;
    this.#edits = needs.edits;
    this.#counting = needs.counting;
  }

  add({ reseller }: Scope, sent: NewOwnClient, who: Principal, note?: Note): Promise<SettledEdit> {
    const { inboundIds, ...fields } = sent;
    const settlement = this.#ledger.adding(reseller.id, { email: sent.email, inboundIds });
    return this.#edits.add({ client: sentFields(fields), inboundIds }, who, withNote(settlement, note));
  }

  /** Inbounds that the reseller may not use stay as they are. */
  async update(
    scope: Scope,
    id: number,
    sent: ClientChanges,
    who: Principal,
    note?: Note,
  ): Promise<SettledEdit> {
    const row = scope.find(id);
    const { inboundIds: wanted, ...fields } = sent;
    const allowed = scope.reseller.inboundIds;
    const attach = wanted?.filter((one) => !row.inboundIds.includes(one)) ?? [];
    const detach = wanted
      ? row.inboundIds.filter((one) => allowed.includes(one) && !wanted.includes(one))
      : [];
    const settlement = this.#ledger.changing(scope.reseller.id, id, {
      email: fields.email === row.email ? undefined : fields.email,
      inboundIds: [...attach, ...detach],
      enables: fields.enable === true && !row.enable,
    });
    return this.#edits.change(
      id,
      { patch: sentFields(fields), attach, detach },
      who,
      withNote(settlement, note),
    );
  }

  reset(scope: Scope, id: number, who: Principal, note?: Note): Promise<SettledEdit> {
    scope.find(id);
    const settlement = this.#ledger.changing(scope.reseller.id, id, { resets: true });
    return this.#edits.change(id, { resets: true }, who, withNote(settlement, note));
  }

  renew(
    scope: Scope,
    id: number,
    sent: SomeClientRenewal,
    who: Principal,
    note?: Note,
  ): Promise<SettledEdit> {
    scope.find(id);
    const settlement = this.#ledger.changing(scope.reseller.id, id, { resets: sent.reset });
    return this.#edits.renew(id, sent, who, withNote(settlement, note));
  }

  async delete(scope: Scope, id: number, who: Principal): Promise<SettledEdit> {
    scope.find(id);
    // What it has used by now counts. The poll reports what it cannot count.
    await this.#counting.count().catch(() => undefined);
    const settlement = this.#ledger.deleting(scope.reseller.id, id);
    return this.#edits.delete(id, who, settlement);
  }
}
