// Operations on clients by their emails, one or thousands: finds the clients, plans the edit of each, and lists those that are skipped with the reason.
import { type Clock, type Principal, SerialQueue, type Tx } from '../../../kernel/index.js';
import { mapInSlices } from '../model/map-in-slices.js';
import { type Applied, DONE } from '../../engine/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import type { SentCredentials } from '../credentials/sent.js';
import { errors } from '../errors.js';
import type { ClientStore } from '../model/client-store.js';
import { uniqueFields } from '../model/fields.js';
import { depletionOf } from '../model/depletion.js';
import { changedFields } from '../model/field-changes.js';
import type { ClientRow } from '../model/row.js';
import type { ClientPatch } from '../model/schema.js';
import { adjustment, type Adjustment } from './adjustment.js';
import type { ClientService, SkippedClient } from './client-service.js';
import type { ClientWriter } from './client-writer.js';
import type { ClientEdit } from './edit.js';
import { Progress, writeInPortions } from './in-portions.js';
import { pickClients, skip } from './pick-clients.js';
import type { WriteRequest } from './write-request.js';

export interface Adjusted {
  readonly adjusted: number;
  readonly skipped: SkippedClient[];
  readonly applied: Applied;
}
export interface Attached {
  readonly attached: string[];
  readonly skipped: string[];
  readonly errors: string[];
  readonly applied: Applied;
}

export class BulkOperations {
  readonly #store: ClientStore;
  readonly #writer: ClientWriter;
  readonly #inbounds: InboundsApi;
  readonly #clock: Clock;
  readonly #service: ClientService;
  /** An adjustment starts from the result of the previous one. */
  readonly #adjustments = new SerialQueue();
  readonly #deletions = new SerialQueue();
  readonly #progress = new Progress();

  constructor({
    store,
    writer,
    inbounds,
    clock,
    service,
  }: {
    store: ClientStore;
    writer: ClientWriter;
    inbounds: InboundsApi;
    clock: Clock;
    service: ClientService;
  }) {
    this.#store = store;
    this.#writer = writer;
    this.#inbounds = inbounds;
    this.#clock = clock;
    this.#service = service;
  }

  /** `changed` counts all clients that have the wanted state now, also those that had it before. */
  async setEnable(
    emails: readonly string[],
    enable: boolean,
    who: Principal,
  ): Promise<{ changed: number; skipped: SkippedClient[]; applied: Applied }> {
    const now = this.#clock.now();
    const { rows, skipped } = pickClients(this.#store.roster, emails);
    // Clients at a limit are edited too: they come back when the limit is raised.
    const applied = await this.#write(
      await this.#planEdits(
        rows.map((row) => ({ row, patch: { enable } })),
        now,
        who,
      ),
      who,
    );
    const held = enable ? rows.filter((row) => depletionOf(row, now)) : [];
    return {
      changed: rows.length - held.length,
      skipped: [...skipped, ...held.map((row) => skip(row.email, errors.AT_LIMIT))],
      applied,
    };
  }

  /** `adjusted` counts the clients that take a part of the adjustment, also if their fields are the same after it. */
  adjust(
    emails: readonly string[],
    wanted: Adjustment,
    who: Principal,
    note?: (facts: Adjusted) => void,
  ): Promise<Adjusted> {
    return this.#adjustments.run(() => this.#adjust(emails, wanted, who, note));
  }

  async #adjust(
    emails: readonly string[],
    wanted: Adjustment,
    who: Principal,
    note?: (facts: Adjusted) => void,
  ) {
    const now = this.#clock.now();
    const { rows, skipped } = pickClients(this.#store.roster, emails);
    const effective = {
      takesFlow: (id: number) => this.#inbounds.takesFlow(id),
      takesAdTag: (id: number) => this.#inbounds.get(id)?.protocol === 'mtproto',
    };
    const patches: { row: ClientRow; patch: ClientPatch }[] = [];
    for (const row of rows) {
      const { patch, reason } = adjustment(row, wanted, effective);
      if (Object.keys(patch).length > 0) patches.push({ row, patch });
      if (reason !== undefined) skipped.push(skip(row.email, errors.NOT_ADJUSTABLE, reason));
    }
    const edits = await this.#planEdits(patches, now, who);
    const facts = { adjusted: edits.length, skipped };
    return {
      ...facts,
      applied: await this.#write(edits, who, { committing: () => note?.({ ...facts, applied: DONE }) }),
    };
  }

  async delete(
    emails: readonly string[],
    keepTraffic: boolean,
    who: Principal,
  ): Promise<{ deleted: number; skipped: SkippedClient[]; applied: Applied }> {
    const { rows, skipped } = pickClients(this.#store.roster, emails);
    const named = rows.map(({ id, email }) => ({ id, email }));
    const { deleted, applied } = await this.#writer.write({ deleted: rows, keepTraffic }, who);
    return {
      deleted: deleted.size,
      skipped: [
        ...skipped,
        ...named.filter(({ id }) => !deleted.has(id)).map(({ email }) => skip(email, errors.NOT_FOUND)),
      ],
      applied,
    };
  }

  /** Deletes them portion by portion. One call after the other: the next finds none. */
  deleteWhere(
    isMeant: (row: ClientRow, now: number) => boolean,
    who: Principal,
    progressed: () => void,
  ): Promise<{ deleted: number; applied: Applied }> {
    return this.#progress.during(progressed, () =>
      this.#deletions.run(() => this.#deleteWhere(isMeant, who)),
    );
  }

  async #deleteWhere(isMeant: (row: ClientRow, now: number) => boolean, who: Principal) {
    const now = this.#clock.now();
    let count = 0;
    const applied = await writeInPortions(
      this.#store.roster.ordered('id'),
      (row) => (isMeant(row, now) ? row : undefined),
      async (portion) => {
        const { deleted, applied } = await this.#writer.write({ deleted: portion }, who);
        count += deleted.size;
        return applied;
      },
      this.#progress,
    );
    return { deleted: count, applied };
  }

  /** The reply has an email once per inbound; inbounds that do not exist or take no clients are listed as errors. */
  async attach(
    emails: readonly string[],
    inboundIds: readonly number[],
    who: Principal,
    {
      note,
      credentialsOf,
    }: {
      readonly note?: ((facts: Attached) => void) | undefined;
      readonly credentialsOf?: (email: string) => SentCredentials | undefined;
    } = {},
  ): Promise<Attached> {
    const { rows, skipped: notFound } = pickClients(this.#store.roster, emails);
    const ids = [...new Set(inboundIds)];
    const problems = new Map(ids.flatMap((id) => this.#whyNot(id)));
    const existingIds = ids.filter((id) => !problems.has(id));
    const attached: string[] = [];
    const skipped: string[] = [];
    const edits = rows.map((row): ClientEdit => {
      const toAttach = existingIds.filter((id) => !row.inboundIds.includes(id));
      for (const id of existingIds) (toAttach.includes(id) ? attached : skipped).push(row.email);
      return { row, attach: toAttach, credentials: credentialsOf?.(row.email) };
    });
    const facts = {
      attached,
      skipped,
      errors: [
        ...notFound.map(({ email, reason }) => `${email}: ${reason}`),
        ...[...problems].map(([id, problem]) => `inbound ${id}: ${problem}`),
      ],
    };
    return {
      ...facts,
      applied: await this.#write(edits, who, { committing: () => note?.({ ...facts, applied: DONE }) }),
    };
  }

  #whyNot(inboundId: number): [number, string][] {
    const problem = this.#inbounds.get(inboundId)
      ? this.#inbounds.clientless(inboundId)
      : 'there is no inbound with this id';
    return problem === undefined ? [] : [[inboundId, problem]];
  }

  /** The reply has each email once. */
  async detach(emails: readonly string[], inboundIds: readonly number[], who: Principal) {
    const { rows, skipped: notFound } = pickClients(this.#store.roster, emails);
    const edits = rows.map(
      (row): ClientEdit => ({
        row,
        detach: [...new Set(inboundIds)].filter((id) => row.inboundIds.includes(id)),
      }),
    );
    const isAttached = ({ detach = [] }: ClientEdit): boolean => detach.length > 0;
    const detached = edits.filter(isAttached).map(({ row }) => row.email);
    const skipped = edits.filter((edit) => !isAttached(edit)).map(({ row }) => row.email);
    const applied = await this.#write(edits, who);
    return { detached, skipped, errors: notFound.map(({ email, reason }) => `${email}: ${reason}`), applied };
  }

  /** Clients with these emails. */
  find(emails: readonly string[]): ClientRow[] {
    return pickClients(this.#store.roster, emails).rows;
  }

  /** `affected` counts the clients that were in another group. */
  async regroup(
    rows: readonly ClientRow[],
    group: string,
    who: Principal,
    also?: (tx: Tx) => Promise<void>,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const moved = rows
      .filter((row) => row.group !== group)
      .map((row): ClientEdit => ({ row, fields: { group, updatedAt: now } }));
    return { affected: moved.length, applied: await this.#write(moved, who, { also }) };
  }

  async #write(
    edits: readonly ClientEdit[],
    who: Principal,
    rest: Pick<WriteRequest, 'also' | 'committing'> = {},
  ): Promise<Applied> {
    return (await this.#writer.write({ edits, ...rest }, who)).applied;
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
