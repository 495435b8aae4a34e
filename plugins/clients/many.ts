// What is done to clients by their emails, one or many: who is meant, what becomes of each, and who is skipped for which reason.
import { type Clock, SerialQueue, type Tx } from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { adjustment, type Adjustment } from './adjust.js';
import type { Edits, Edit } from './edits.js';
import { errors } from './errors.js';
import { changedFields, settle } from './new-client.js';
import { type ClientRow, depletionOf, emailKey } from './row.js';
import type { SkippedClient } from './service.js';
import type { ClientStore } from './store.js';

const skip = (
  email: string,
  error: { readonly code: string; readonly text: string },
  reason: string = error.text,
): SkippedClient => ({
  email,
  reason,
  code: error.code,
});

/** Emails without blanks and repetitions, in the order they came. */
function distinct(emails: readonly string[]): string[] {
  const seen = new Map<string, string>();
  for (const email of emails.map((sent) => sent.trim()).filter(Boolean))
    if (!seen.has(emailKey(email))) seen.set(emailKey(email), email);
  return [...seen.values()];
}

export class ManyClients {
  readonly #store: ClientStore;
  readonly #edits: Edits;
  readonly #inbounds: InboundsApi;
  readonly #clock: Clock;
  /** Each adjustment adds to what the one before has left. */
  readonly #adjustments = new SerialQueue();

  constructor({
    store,
    edits,
    inbounds,
    clock,
  }: { store: ClientStore; edits: Edits; inbounds: InboundsApi; clock: Clock }) {
    this.#store = store;
    this.#edits = edits;
    this.#inbounds = inbounds;
    this.#clock = clock;
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
  ): Promise<{ changed: number; skipped: SkippedClient[]; applied: Applied }> {
    const now = this.#clock.now();
    const { rows, skipped } = this.#pick(emails);
    // The wish is kept of those at a limit as well: they come back as soon as it is raised.
    const applied = await this.#edits.apply(
      rows.map((row) => ({ row, fields: changedFields(row, { enable }, now) })),
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
  ): Promise<{ adjusted: number; skipped: SkippedClient[]; applied: Applied }> {
    return this.#adjustments.run(() => this.#adjust(emails, wanted));
  }

  async #adjust(emails: readonly string[], wanted: Adjustment) {
    const now = this.#clock.now();
    const { rows, skipped } = this.#pick(emails);
    const edits: Edit[] = [];
    for (const row of rows) {
      const { patch, reason } = adjustment(row, wanted, (id) => this.#inbounds.takesFlow(id));
      if (Object.keys(patch).length > 0) edits.push({ row, fields: changedFields(row, patch, now) });
      if (reason !== undefined) skipped.push(skip(row.email, errors.NOT_ADJUSTABLE, reason));
    }
    return { adjusted: edits.length, skipped, applied: await this.#edits.apply(edits) };
  }

  async delete(
    emails: readonly string[],
    keepTraffic: boolean,
  ): Promise<{ deleted: number; skipped: SkippedClient[]; applied: Applied }> {
    const { rows, skipped } = this.#pick(emails);
    const named = rows.map(({ id, email }) => ({ id, email }));
    const { deleted, applied } = await this.#edits.delete(rows, keepTraffic);
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
    meant: (row: ClientRow, now: number) => boolean,
  ): Promise<{ deleted: number; applied: Applied }> {
    const now = this.#clock.now();
    const { deleted, applied } = await this.#edits.delete(
      this.#store.roster.ordered('id').filter((row) => meant(row, now)),
      false,
    );
    return { deleted: deleted.size, applied };
  }

  /** An email is named once per inbound; those that are gone stand among the errors. */
  async attach(emails: readonly string[], inboundIds: readonly number[]) {
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
    const applied = await this.#edits.apply(edits);
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

  /** Each email once: detached from those of the inbounds that it was attached to. */
  async detach(emails: readonly string[], inboundIds: readonly number[]) {
    const { rows, skipped: unknown } = this.#pick(emails);
    const edits = rows.map(
      (row): Edit => ({ row, detach: [...new Set(inboundIds)].filter((id) => row.inboundIds.includes(id)) }),
    );
    const [detached, skipped] = [true, false].map((any) =>
      edits.filter(({ detach }) => (detach?.length ?? 0) > 0 === any).map(({ row: { email } }) => email),
    ) as [string[], string[]];
    const applied = await this.#edits.apply(edits);
    return { detached, skipped, errors: unknown.map(({ email, reason }) => `${email}: ${reason}`), applied };
  }

  /** Those of the emails that are somebody's. */
  found(emails: readonly string[]): ClientRow[] {
    return this.#pick(emails).rows;
  }

  /** `affected` are those that were in another group. */
  async regroup(
    rows: readonly ClientRow[],
    group: string,
    also: (tx: Tx) => Promise<void>,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const moved = rows
      .filter((row) => row.group !== group)
      .map((row): Edit => ({ row, fields: { group, updatedAt: now } }));
    return { affected: moved.length, applied: await this.#edits.apply(moved, also) };
  }

  /** Who resets a client by name wants it to work again, whoever had switched it off. */
  async resetTraffic(emails: readonly string[]): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const { rows } = this.#pick(emails);
    const applied = await this.#edits.apply(
      rows.map((row) => this.#used({ ...row, enable: true }, row, { up: 0, down: 0 }, now)),
    );
    return { affected: rows.length, applied };
  }

  /** Whom a person has switched off stays off. */
  async resetAll(): Promise<Applied> {
    const now = this.#clock.now();
    const used = this.#store.roster
      .ordered('id')
      .filter((row) => row.up + row.down > 0 || row.depletedCause === 'quota');
    return this.#edits.apply(used.map((row) => this.#used(row, row, { up: 0, down: 0 }, now)));
  }

  /** The same, for those who are attached to any of these inbounds. */
  async resetOf(inboundIds: readonly number[], also: (tx: Tx) => Promise<void>): Promise<Applied> {
    const now = this.#clock.now();
    const ids = new Set(inboundIds);
    const theirs = this.#store.roster
      .ordered('id')
      .filter(
        (row) =>
          (row.up + row.down > 0 || row.depletedCause === 'quota') &&
          row.inboundIds.some((id) => ids.has(id)),
      );
    return this.#edits.apply(
      theirs.map((row) => this.#used(row, row, { up: 0, down: 0 }, now)),
      also,
    );
  }

  async setTraffic(
    row: ClientRow,
    counters: { readonly up: number; readonly down: number },
  ): Promise<Applied> {
    return this.#edits.apply([this.#used(row, row, counters, this.#clock.now())]);
  }

  async setTraffics(
    counters: readonly { readonly email: string; readonly up: number; readonly down: number }[],
  ): Promise<Applied> {
    const now = this.#clock.now();
    return this.#edits.apply(
      counters.flatMap(({ email, up, down }) => {
        const row = this.#store.byEmail(email);
        return row && up + down > 0 ? [this.#used(row, row, { up, down }, now)] : [];
      }),
    );
  }

  /** Counters, and whether the client is off because of them. */
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
