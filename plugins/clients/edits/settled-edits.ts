// Edits of single clients, with what another plugin writes about them in the same transaction.
import { type Clock, type Principal, type Tx, validate } from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { SettledChange, SettledEdit, SettledEditsApi, Settlement } from '../contract.js';
import { errors } from '../errors.js';
import type { ClientStore } from '../model/client-store.js';
import { chosenSwitch } from '../model/field-changes.js';
import { renewedExpiry } from '../model/renewal.js';
import type { ClientRow } from '../model/row.js';
import type { SomeClientRenewal } from '../lists/some-clients.js';
import { type AddClient, ClientPatch, NewClient } from '../model/schema.js';
import { storedLimits } from '../model/stored-limits.js';
import type { BulkPlans } from './bulk-plans.js';
import type { ClientService } from './client-service.js';
import type { ClientWriter } from './client-writer.js';

const NOTHING_USED = { up: 0, down: 0 };
const NOTHING_ELSEWHERE = { elsewhereUp: 0, elsewhereDown: 0 };
const missing = (id: number) => errors.NOT_FOUND(`there is no client with the id ${id}`, { path: 'id' });

export class EditsWithSettlement implements SettledEditsApi {
  readonly #clock: Clock;
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #plans: Pick<BulkPlans, 'adjustments'>;
  readonly #service: ClientService;
  readonly #writer: ClientWriter;

  constructor(needs: {
    clock: Clock;
    store: ClientStore;
    inbounds: InboundsApi;
    plans: Pick<BulkPlans, 'adjustments'>;
    service: ClientService;
    writer: ClientWriter;
  }) {
    this.#clock = needs.clock;
    this.#store = needs.store;
    this.#inbounds = needs.inbounds;
    this.#plans = needs.plans;
    this.#service = needs.service;
    this.#writer = needs.writer;
  }

  async add(sent: AddClient, who: Principal, settlement: Settlement) {
    const item = { ...sent, client: validate(NewClient, sent.client) };
    this.#inbounds.requireForClients(sent.inboundIds, 'inboundIds');
    const { refused, request } = await this.#service.planNew([item], who, { fieldPrefix: '' });
    if (refused[0]) throw refused[0].error;
    let id = 0;
    const { applied } = await this.#writer.write(
      {
        ...request,
        also: (tx) => settlement.before(tx),
        settle: async (tx, { added: [row], refused: [late] }) => {
          if (late || !row) throw late?.error ?? missing(0);
          id = row.id;
          await settlement.after(tx, id);
        },
      },
      who,
    );
    return { id, applied };
  }

  async change(
    id: number,
    { patch = {}, resets = false, attach = [], detach = [] }: SettledChange,
    who: Principal,
    settlement: Settlement,
  ): Promise<SettledEdit> {
    const row = this.#row(id);
    this.#inbounds.requireForClients(attach, 'inboundIds');
    const [prepared = patch] = await this.#service.prepare(
      [validate(ClientPatch, patch)],
      [{ before: { ...row }, inboundIds: row.inboundIds }],
      who,
    );
    const planned = this.#service.fieldsOf(row, prepared, '');
    // The write decides again whether the client is enabled with its usage at zero.
    const fields = resets ? { updatedAt: this.#clock.now(), ...planned, ...NOTHING_ELSEWHERE } : planned;
    const edit = {
      row,
      fields,
      chosen: chosenSwitch(row, prepared),
      ...(resets && { usage: NOTHING_USED }),
      attach: attach.filter((one) => !row.inboundIds.includes(one)),
      detach: detach.filter((one) => row.inboundIds.includes(one)),
    };
    const { applied } = await this.#writer.write(
      { edits: [edit], missingError: () => missing(id), ...settled(id, settlement) },
      who,
    );
    return { id, applied };
  }

  renew(
    id: number,
    { days, reset }: SomeClientRenewal,
    who: Principal,
    settlement: Settlement,
  ): Promise<SettledEdit> {
    return this.#plans.adjustments.run(() => {
      const { expiryTime } = this.#row(id);
      // A client without an end gets none.
      const patch = { expiryTime: renewedExpiry(expiryTime, days, this.#clock.now()) };
      return this.change(id, { ...(expiryTime !== 0 && { patch }), resets: reset }, who, settlement);
    });
  }

  async delete(id: number, who: Principal, settlement: Settlement): Promise<SettledEdit> {
    const { applied } = await this.#writer.write(
      { deleted: [this.#row(id)], ...settled(id, settlement) },
      who,
    );
    return { id, applied };
  }

  limitsOf(tx: Tx, ids: readonly number[]) {
    return storedLimits(tx, ids);
  }

  async groupOf(tx: Tx, id: number): Promise<string | undefined> {
    const [stored] = await tx.query<{ group: string }>(
      'SELECT group_name AS "group" FROM clients WHERE id = :id',
      { id },
    );
    return stored?.group;
  }

  #row(id: number): ClientRow {
    const row = this.#store.byId(id);
    if (!row) throw missing(id);
    return row;
  }
}

const settled = (id: number, { before, after }: Settlement) => ({
  also: (tx: Tx) => before(tx),
  settle: (tx: Tx) => after(tx, id),
});
