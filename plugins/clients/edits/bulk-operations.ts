// Operations on clients by their emails, one or thousands: finds the clients, plans the edit of each, and lists those that are skipped with the reason.
import { type Clock, type Principal, SerialQueue, type Tx } from '../../../kernel/index.js';
import type { Applied } from '../../engine/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { errors } from '../errors.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey, uniqueFields } from '../model/fields.js';
import { changedFields, settle } from '../model/new-client.js';
import { type ClientRow, depletionOf } from '../model/row.js';
import type { ClientPatch } from '../model/schema.js';
import { adjustment, type Adjustment } from './adjustment.js';
import type { ClientService, SkippedClient } from './client-service.js';
import type { ClientWriter } from './client-writer.js';
import type { Edit } from './edit.js';

const skip = (
  email: string,
  error: { readonly code: string; readonly text: string },
  reason: string = error.text,
): SkippedClient => ({
  email,
  reason,
  code: error.code,
});

/** Emails without blanks and duplicates, in their order. */
function distinct(emails: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const email of emails.map((sent) => sent.trim()).filter(Boolean))
    if (!seen.has(emailKey(email))) seen.set(emailKey(email), email);
  return [...seen.values()];
}

export class BulkOperations {
  readonly #store: ClientStore;
  readonly #writer: ClientWriter;
  readonly #inbounds: InboundsApi;
  readonly #clock: Clock;
  readonly #service: ClientService;
  /** An adjustment starts from the result of the previous one. */
  readonly #adjustments = new SerialQueue();

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

  #pick(emails: readonly string[]): { rows: ClientRow[]; skipped: SkippedClient[] } {
    const rows: ClientRow[] = [];
    const skipped: SkippedClient[] = [];
    for (const email of distinct(emails)) {
      const row = this.#store.byEmail(email);
      if (row) rows.push(row);
      else skipped.push(skip(email, errors.NOT_FOUND));
    }
    return { rows, skipped };
  }

  async setEnable(
    emails: readonly string[],
    enable: boolean,
    who: Principal,
  ): Promise<{ changed: number; skipped: SkippedClient[]; applied: Applied }> {
    const now = this.#clock.now();
    const { rows, skipped } = this.#pick(emails);
    // Clients at a limit are edited too: they come back when the limit is raised.
    const applied = await this.#apply(
      await this.#fields(
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

  adjust(
    emails: readonly string[],
    wanted: Adjustment,
    who: Principal,
  ): Promise<{ adjusted: number; skipped: SkippedClient[]; applied: Applied }> {
    return this.#adjustments.run(() => this.#adjust(emails, wanted, who));
  }

  async #adjust(emails: readonly string[], wanted: Adjustment, who: Principal) {
    const now = this.#clock.now();
    const { rows, skipped } = this.#pick(emails);
    const patches: { row: ClientRow; patch: ClientPatch }[] = [];
    for (const row of rows) {
      const { patch, reason } = adjustment(row, wanted, (id) => this.#inbounds.takesFlow(id));
      if (Object.keys(patch).length > 0) patches.push({ row, patch });
      if (reason !== undefined) skipped.push(skip(row.email, errors.NOT_ADJUSTABLE, reason));
    }
    const edits = await this.#fields(patches, now, who);
    return { adjusted: edits.length, skipped, applied: await this.#apply(edits, who) };
  }

  async delete(
    emails: readonly string[],
    keepTraffic: boolean,
    who: Principal,
  ): Promise<{ deleted: number; skipped: SkippedClient[]; applied: Applied }> {
    const { rows, skipped } = this.#pick(emails);
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

  async deleteWhere(
    isMeant: (row: ClientRow, now: number) => boolean,
    who: Principal,
  ): Promise<{ deleted: number; applied: Applied }> {
    const now = this.#clock.now();
    const { deleted, applied } = await this.#writer.write(
      { deleted: this.#store.roster.ordered('id').filter((row) => isMeant(row, now)) },
      who,
    );
    return { deleted: deleted.size, applied };
  }

  /** The reply has an email once per inbound; inbounds that do not exist are listed as errors. */
  async attach(emails: readonly string[], inboundIds: readonly number[], who: Principal) {
    const { rows, skipped: unknown } = this.#pick(emails);
    const ids = [...new Set(inboundIds)];
    const there = ids.filter((id) => this.#inbounds.get(id));
    const attached: string[] = [];
    const skipped: string[] = [];
    const edits = rows.map((row): Edit => {
      const missing = there.filter((id) => !row.inboundIds.includes(id));
      for (const id of there) (missing.includes(id) ? attached : skipped).push(row.email);
      return { row, attach: missing };
    });
    const applied = await this.#apply(edits, who);
    return {
      attached,
      skipped,
      errors: [
        ...unknown.map(({ email, reason }) => `${email}: ${reason}`),
        ...ids
          .filter((id) => !there.includes(id))
          .map((id) => `inbound ${id}: there is no inbound with this id`),
      ],
      applied,
    };
  }

  /** The reply has each email once. */
  async detach(emails: readonly string[], inboundIds: readonly number[], who: Principal) {
    const { rows, skipped: unknown } = this.#pick(emails);
    const edits = rows.map(
      (row): Edit => ({ row, detach: [...new Set(inboundIds)].filter((id) => row.inboundIds.includes(id)) }),
    );
    const [detached, skipped] = [true, false].map((any) =>
      edits.filter(({ detach }) => (detach?.length ?? 0) > 0 === any).map(({ row: { email } }) => email),
    ) as [string[], string[]];
    const applied = await this.#apply(edits, who);
    return { detached, skipped, errors: unknown.map(({ email, reason }) => `${email}: ${reason}`), applied };
  }

  /** Clients with these emails. */
  find(emails: readonly string[]): ClientRow[] {
    return this.#pick(emails).rows;
  }

  /** `affected` counts the clients that were in another group. */
  async regroup(
    rows: readonly ClientRow[],
    group: string,
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const moved = rows
      .filter((row) => row.group !== group)
      .map((row): Edit => ({ row, fields: { group, updatedAt: now } }));
    return { affected: moved.length, applied: await this.#apply(moved, who, also) };
  }

  /** A reset by name enables the clients too, whoever disabled them. */
  async resetTraffic(
    emails: readonly string[],
    who: Principal,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const { rows } = this.#pick(emails);
    const applied = await this.#apply(
      rows.map((row) => this.#used({ ...row, enable: true }, row, { up: 0, down: 0 }, now)),
      who,
    );
    return { affected: rows.length, applied };
  }

  /** Clients that an admin disabled stay disabled. */
  resetAll(who: Principal): Promise<Applied> {
    return this.#resetWhere(() => true, who);
  }

  /** The same for the clients that are attached to any of these inbounds; `also` is written in the same transaction. */
  resetOf(inboundIds: readonly number[], who: Principal, also: (tx: Tx) => Promise<void>): Promise<Applied> {
    const wanted = new Set(inboundIds);
    return this.#resetWhere(({ inboundIds: attached }) => attached.some((id) => wanted.has(id)), who, also);
  }

  #resetWhere(
    isMeant: (row: ClientRow) => boolean,
    who: Principal,
    also?: (tx: Tx) => Promise<void>,
  ): Promise<Applied> {
    const now = this.#clock.now();
    const rows = this.#store.roster
      .ordered('id')
      .filter((row) => (row.up + row.down > 0 || row.depletedCause === 'quota') && isMeant(row));
    return this.#apply(
      rows.map((row) => this.#used(row, row, { up: 0, down: 0 }, now)),
      who,
      also,
    );
  }

  setTraffic(
    row: ClientRow,
    counters: { readonly up: number; readonly down: number },
    who: Principal,
  ): Promise<Applied> {
    return this.#apply([this.#used(row, row, counters, this.#clock.now())], who);
  }

  setTraffics(
    counters: readonly { readonly email: string; readonly up: number; readonly down: number }[],
    who: Principal,
  ): Promise<Applied> {
    const now = this.#clock.now();
    return this.#apply(
      counters.flatMap(({ email, up, down }) => {
        const row = this.#store.byEmail(email);
        return row && up + down > 0 ? [this.#used(row, row, { up, down }, now)] : [];
      }),
      who,
    );
  }

  async #apply(edits: readonly Edit[], who: Principal, also?: (tx: Tx) => Promise<void>): Promise<Applied> {
    return (await this.#writer.write({ edits, also }, who)).applied;
  }

  /** Plans the edits after plugins changed the patches. Bulk calls cannot set unique fields: those that a plugin adds are ignored. */
  async #fields(
    wanted: readonly { readonly row: ClientRow; readonly patch: ClientPatch }[],
    now: number,
    who: Principal,
  ): Promise<Edit[]> {
    const patches = await this.#service.prepare(
      wanted.map(({ patch }) => patch),
      wanted.map(({ row }) => ({ before: { ...row }, inboundIds: row.inboundIds })),
      who,
    );
    return wanted.map(({ row }, i) => {
      const { id: _, ...patch } = patches[i] ?? {};
      for (const name of uniqueFields) delete patch[name];
      return { row, fields: changedFields(row, patch, now) };
    });
  }

  /** Plans new counters, and whether the client is enabled with them. */
  #used(
    wanted: ClientRow,
    row: ClientRow,
    counters: { readonly up: number; readonly down: number },
    now: number,
  ): Edit {
    const { enable, depletedCause } = settle({ ...wanted, ...counters }, now);
    const fields =
      enable === row.enable && depletedCause === row.depletedCause
        ? {}
        : { enable, depletedCause, updatedAt: now };
    return { row, counters, fields };
  }
}
