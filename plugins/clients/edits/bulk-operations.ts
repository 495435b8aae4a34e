// Operations on clients by their emails, one or thousands: finds the clients, writes what is planned for each, and lists those that are skipped with the reason.
import { type Clock, type Principal, SerialQueue, type Tx } from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import type { SentCredentials } from '../credentials/sent.js';
import { errors } from '../errors.js';
import type { ClientStore } from '../model/client-store.js';
import type { ClientRow } from '../model/row.js';
import type { Adjustment } from './adjustment.js';
import type { BulkPlans } from './bulk-plans.js';
import type { SkippedClient } from './client-service.js';
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
  readonly #clock: Clock;
  readonly #plans: BulkPlans;
  readonly #deletions = new SerialQueue();
  readonly #progress = new Progress();

  constructor({
    store,
    writer,
    clock,
    plans,
  }: { store: ClientStore; writer: ClientWriter; clock: Clock; plans: BulkPlans }) {
    this.#store = store;
    this.#writer = writer;
    this.#clock = clock;
    this.#plans = plans;
  }

  /** `changed` counts all clients that have the wanted state now, also those that had it before. */
  async setEnable(
    emails: readonly string[],
    enable: boolean,
    who: Principal,
  ): Promise<{ changed: number; skipped: SkippedClient[]; applied: Applied }> {
    const { rows, skipped } = pickClients(this.#store.roster, emails);
    const { edits, held } = await this.#plans.setEnable(rows, enable, who);
    const applied = await this.#write(edits, who);
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
    return this.#plans.adjustments.run(() => this.#adjust(emails, wanted, who, note));
  }

  async #adjust(
    emails: readonly string[],
    wanted: Adjustment,
    who: Principal,
    note?: (facts: Adjusted) => void,
  ) {
    const { rows, skipped } = pickClients(this.#store.roster, emails);
    const { edits, unfit } = await this.#plans.adjust(rows, wanted, who);
    skipped.push(...unfit.map(({ row, reason }) => skip(row.email, errors.NOT_ADJUSTABLE, reason)));
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
    const problems = this.#plans.unusable(ids);
    const existingIds = ids.filter((id) => !problems.has(id));
    const attached: string[] = [];
    const skipped: string[] = [];
    const edits = this.#plans.attach(rows, existingIds, credentialsOf);
    for (const { row, attach = [] } of edits)
      for (const id of existingIds) (attach.includes(id) ? attached : skipped).push(row.email);
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

  /** The reply has each email once. */
  async detach(emails: readonly string[], inboundIds: readonly number[], who: Principal) {
    const { rows, skipped: notFound } = pickClients(this.#store.roster, emails);
    const edits = this.#plans.detach(rows, inboundIds);
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
    const moved = this.#plans.regroup(rows, group);
    return { affected: moved.length, applied: await this.#write(moved, who, { also }) };
  }

  async #write(
    edits: readonly ClientEdit[],
    who: Principal,
    rest: Pick<WriteRequest, 'also' | 'committing'> = {},
  ): Promise<Applied> {
    return (await this.#writer.write({ edits, ...rest }, who)).applied;
  }
}
