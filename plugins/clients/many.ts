// What is done to clients by their emails, one or many: who is meant, what becomes of each, and who is skipped for which reason.
import { type Clock, type Principal, SerialQueue, type Tx } from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import { adjustment, type Adjustment } from './adjust.js';
import type { Edits, Edit } from './edits.js';
import { errors } from './errors.js';
import { changedFields, settle } from './new-client.js';
import { type ClientRow, depletionOf, emailKey } from './row.js';
import type { ClientPatch } from './schema.js';
import type { ClientService, SkippedClient } from './service.js';
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
  readonly #service: ClientService;
  /** Each adjustment adds to what the one before has left. */
  readonly #adjustments = new SerialQueue();

  constructor({
    store,
    edits,
    inbounds,
    clock,
    service,
  }: { store: ClientStore; edits: Edits; inbounds: InboundsApi; clock: Clock; service: ClientService }) {
    this.#store = store;
    this.#edits = edits;
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
    // The wish is kept of those at a limit as well: they come back as soon as it is raised.
    const applied = await this.#edits.apply(
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
    return { adjusted: edits.length, skipped, applied: await this.#edits.apply(edits, who) };
  }

  async delete(
    emails: readonly string[],
    keepTraffic: boolean,
    who: Principal,
  ): Promise<{ deleted: number; skipped: SkippedClient[]; applied: Applied }> {
    const { rows, skipped } = this.#pick(emails);
    const named = rows.map(({ id, email }) => ({ id, email }));
    const { deleted, applied } = await this.#edits.delete(rows, keepTraffic, who);
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
    who: Principal,
  ): Promise<{ deleted: number; applied: Applied }> {
    const now = this.#clock.now();
    const { deleted, applied } = await this.#edits.delete(
      this.#store.roster.ordered('id').filter((row) => meant(row, now)),
      false,
      who,
    );
    return { deleted: deleted.size, applied };
  }

  /** An email is named once per inbound; those that are gone stand among the errors. */
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
    const applied = await this.#edits.apply(edits, who);
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
  async detach(emails: readonly string[], inboundIds: readonly number[], who: Principal) {
    const { rows, skipped: unknown } = this.#pick(emails);
    const edits = rows.map(
      (row): Edit => ({ row, detach: [...new Set(inboundIds)].filter((id) => row.inboundIds.includes(id)) }),
    );
    const [detached, skipped] = [true, false].map((any) =>
      edits.filter(({ detach }) => (detach?.length ?? 0) > 0 === any).map(({ row: { email } }) => email),
    ) as [string[], string[]];
    const applied = await this.#edits.apply(edits, who);
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
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const moved = rows
      .filter((row) => row.group !== group)
      .map((row): Edit => ({ row, fields: { group, updatedAt: now } }));
    return { affected: moved.length, applied: await this.#edits.apply(moved, who, also) };
  }

  /** Who resets a client by name wants it to work again, whoever had switched it off. */
  async resetTraffic(
    emails: readonly string[],
    who: Principal,
  ): Promise<{ affected: number; applied: Applied }> {
    const now = this.#clock.now();
    const { rows } = this.#pick(emails);
    const applied = await this.#edits.apply(
      rows.map((row) => this.#used({ ...row, enable: true }, row, { up: 0, down: 0 }, now)),
      who,
    );
    return { affected: rows.length, applied };
  }

  /** Whom a person has switched off stays off. */
  async resetAll(who: Principal): Promise<Applied> {
    const now = this.#clock.now();
    const used = this.#store.roster
      .ordered('id')
      .filter((row) => row.up + row.down > 0 || row.depletedCause === 'quota');
    return this.#edits.apply(
      used.map((row) => this.#used(row, row, { up: 0, down: 0 }, now)),
      who,
    );
  }

  /** The same, for those who are attached to any of these inbounds. */
  async resetOf(
    inboundIds: readonly number[],
    who: Principal,
    also: (tx: Tx) => Promise<void>,
  ): Promise<Applied> {
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
      who,
      also,
    );
  }

  async setTraffic(
    row: ClientRow,
    counters: { readonly up: number; readonly down: number },
    who: Principal,
  ): Promise<Applied> {
    return this.#edits.apply([this.#used(row, row, counters, this.#clock.now())], who);
  }

  async setTraffics(
    counters: readonly { readonly email: string; readonly up: number; readonly down: number }[],
    who: Principal,
  ): Promise<Applied> {
    const now = this.#clock.now();
    return this.#edits.apply(
      counters.flatMap(({ email, up, down }) => {
        const row = this.#store.byEmail(email);
        return row && up + down > 0 ? [this.#used(row, row, { up, down }, now)] : [];
      }),
      who,
    );
  }

  /** What changes of each, after plugins had their say. Bulk calls set no names and credentials: a plugin that adds some is not heard. */
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
      const {
        email: _,
        id: _id,
        uuid: _uuid,
        subId: _subId,
        password: _password,
        ...patch
      } = patches[i] ?? {};
      return { row, fields: changedFields(row, patch, now) };
    });
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
