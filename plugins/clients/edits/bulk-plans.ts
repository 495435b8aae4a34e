// Plans what a bulk operation does with each client, by one set of rules: for calls with emails, and for work in portions.
import { type Clock, type Principal, SerialQueue } from '../../../kernel/index.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { SentCredentials } from '../credentials/sent.js';
import { changedFields } from '../model/field-changes.js';
import { uniqueFields } from '../model/fields.js';
import { depletionOf } from '../model/depletion.js';
import { mapInSlices } from '../model/map-in-slices.js';
import type { ClientRow } from '../model/row.js';
import type { ClientPatch } from '../model/schema.js';
import { adjustment, type Adjustment } from './adjustment.js';
import type { ClientService } from './client-service.js';
import type { ClientEdit } from './edit.js';

/** Why a part of an adjustment does not fit a client; the other parts are done. */
export interface Unfit {
  readonly row: ClientRow;
  readonly reason: string;
}

export class BulkPlans {
  readonly #inbounds: InboundsApi;
  readonly #clock: Clock;
  readonly #service: ClientService;
  /** An adjustment starts from the result of the previous one: plan and write it in here. */
  readonly adjustments = new SerialQueue();

  constructor({ inbounds, clock, service }: { inbounds: InboundsApi; clock: Clock; service: ClientService }) {
    this.#inbounds = inbounds;
    this.#clock = clock;
    this.#service = service;
  }

  /** Clients at a limit are edited too: they come back when the limit is raised. `held` are those. */
  async setEnable(
    rows: readonly ClientRow[],
    enable: boolean,
    who: Principal,
  ): Promise<{ readonly edits: ClientEdit[]; readonly held: readonly ClientRow[] }> {
    const now = this.#clock.now();
    const edits = await this.#planEdits(
      rows.map((row) => ({ row, patch: { enable } })),
      now,
      who,
    );
    return { edits, held: enable ? rows.filter((row) => depletionOf(row, now)) : [] };
  }

  async adjust(
    rows: readonly ClientRow[],
    wanted: Adjustment,
    who: Principal,
  ): Promise<{ readonly edits: ClientEdit[]; readonly unfit: readonly Unfit[] }> {
    const now = this.#clock.now();
    const effective = {
      takesFlow: (id: number) => this.#inbounds.takesFlow(id),
      takesAdTag: (id: number) => this.#inbounds.get(id)?.protocol === 'mtproto',
    };
    const patches: { row: ClientRow; patch: ClientPatch }[] = [];
    const unfit: Unfit[] = [];
    for (const row of rows) {
      const { patch, reason } = adjustment(row, wanted, effective);
      if (Object.keys(patch).length > 0) patches.push({ row, patch });
      if (reason !== undefined) unfit.push({ row, reason });
    }
    return { edits: await this.#planEdits(patches, now, who), unfit };
  }

  /** Inbounds that do not exist or take no clients, each with the reason. */
  unusable(inboundIds: readonly number[]): Map<number, string> {
    return new Map(
      [...new Set(inboundIds)].flatMap((id): [number, string][] => {
        const problem = this.#inbounds.get(id)
          ? this.#inbounds.clientless(id)
          : 'there is no inbound with this id';
        return problem === undefined ? [] : [[id, problem]];
      }),
    );
  }

  attach(
    rows: readonly ClientRow[],
    inboundIds: readonly number[],
    credentialsOf?: (email: string) => SentCredentials | undefined,
  ): ClientEdit[] {
    return rows.map((row) => ({
      row,
      attach: inboundIds.filter((id) => !row.inboundIds.includes(id)),
      credentials: credentialsOf?.(row.email),
    }));
  }

  detach(rows: readonly ClientRow[], inboundIds: readonly number[]): ClientEdit[] {
    const ids = [...new Set(inboundIds)];
    return rows.map((row) => ({ row, detach: ids.filter((id) => row.inboundIds.includes(id)) }));
  }

  /** Only clients that are in another group. */
  regroup(rows: readonly ClientRow[], group: string): ClientEdit[] {
    const now = this.#clock.now();
    return rows
      .filter((row) => row.group !== group)
      .map((row) => ({ row, fields: { group, updatedAt: now } }));
  }

  /** Plans the edits after plugins changed the patches. Bulk calls cannot set unique fields: those that a plugin adds are ignored. */
  async #planEdits(
    wanted: readonly { readonly row: ClientRow; readonly patch: ClientPatch }[],
    now: number,
    who: Principal,
  ): Promise<ClientEdit[]> {
    const patches = await this.#service.prepare(
      wanted.map(({ patch }) => patch),
      await mapInSlices(wanted, ({ row }) => ({ before: { ...row }, inboundIds: row.inboundIds })),
      who,
    );
    return mapInSlices(wanted, ({ row }, i) => {
      const { id: _, ...patch } = patches[i] ?? {};
      for (const name of uniqueFields) delete patch[name];
      return { row, fields: changedFields(row, patch, now), chosen: patch.enable };
    });
  }
}
