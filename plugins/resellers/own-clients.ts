// What a reseller does with clients: each edit is one write, which the ledger checks and counts.
import type { Clock, Principal } from '../../kernel/index.js';
import { type Applied, DONE } from '../engine/contract.js';
import type { SettledChange, SettledEditsApi, Settlement } from '../clients/contract.js';
import type { CountingApi } from '../traffic/contract.js';
import type { Ledger } from './ledger.js';
import type { Scope } from './scope.js';
import type { ClientChanges, NewOwnClient, Renewal } from './schemas.js';

const DAY_MS = 86_400_000;

export interface Done {
  readonly id: number;
  readonly applied: Applied;
}
/** Of `once`: called inside the write with what the caller will be answered. */
type Note = ((done: Done) => void) | undefined;

/** The settlement, and the note for a repeated call behind it. */
const noting = ({ before, after }: Settlement, note: Note): Settlement => ({
  before,
  after: async (tx, id) => {
    await after(tx, id);
    note?.({ id, applied: DONE });
  },
});
const given = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

export class OwnClients {
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #edits: SettledEditsApi;
  readonly #counting: CountingApi;

  constructor(needs: { clock: Clock; ledger: Ledger; edits: SettledEditsApi; counting: CountingApi }) {
    this.#clock = needs.clock;
    this.#ledger = needs.ledger;
    this.#edits = needs.edits;
    this.#counting = needs.counting;
  }

  add({ reseller }: Scope, sent: NewOwnClient, who: Principal, note?: Note): Promise<Done> {
    const { inboundIds, ...fields } = sent;
    const settlement = this.#ledger.adding(reseller.id, { email: sent.email, inboundIds });
    return this.#edits.add({ client: given(fields), inboundIds }, who, noting(settlement, note));
  }

  /** Inbounds that the reseller may not use stay as they are. */
  async update(scope: Scope, id: number, sent: ClientChanges, who: Principal, note?: Note): Promise<Done> {
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
    return this.#change(id, { patch: given(fields), attach, detach }, who, noting(settlement, note));
  }

  reset(scope: Scope, id: number, who: Principal, note?: Note): Promise<Done> {
    scope.find(id);
    const settlement = this.#ledger.changing(scope.reseller.id, id, { resets: true });
    return this.#change(id, { resets: true }, who, noting(settlement, note));
  }

  /** Adds days to what is left, or to now where nothing is. A time that has not started becomes that many days; one without an end stays. */
  renew(scope: Scope, id: number, { days, reset }: Renewal, who: Principal, note?: Note): Promise<Done> {
    const { expiryTime: before } = scope.find(id);
    const longer = Math.max(before, this.#clock.now()) + days * DAY_MS;
    const expiryTime = before < 0 ? -days * DAY_MS : longer;
    const settlement = this.#ledger.changing(scope.reseller.id, id, { resets: reset });
    const change = { ...(before !== 0 && { patch: { expiryTime } }), resets: reset };
    return this.#change(id, change, who, noting(settlement, note));
  }

  async delete(scope: Scope, id: number, who: Principal): Promise<Done> {
    scope.find(id);
    // What it has used by now counts. The poll reports what it cannot count.
    await this.#counting.count().catch(() => undefined);
    const settlement = this.#ledger.deleting(scope.reseller.id, id);
    return { id, applied: await this.#edits.delete(id, who, settlement) };
  }

  async #change(id: number, change: SettledChange, who: Principal, settlement: Settlement): Promise<Done> {
    return { id, applied: await this.#edits.change(id, change, who, settlement) };
  }
}
