// Bulk work by filter: finds the clients, and does one portion of them by the plans of the bulk endpoints.
import { kernelErrors, type Principal, type Tx, validate, shape } from '../../../kernel/index.js';
import type { Applied } from '../../engine/contract.js';
import { errors } from '../errors.js';
import type { Groups } from '../groups/groups.js';
import type { ClientLists } from '../lists/client-lists.js';
import { ignoredPart } from '../lists/filter.js';
import { ClientFilter } from '../lists/page-schema.js';
import type { ClientStore } from '../model/client-store.js';
import { mapInSlices } from '../model/map-in-slices.js';
import type { ClientRow } from '../model/row.js';
import type { UsageEdits } from '../usage/usage-edits.js';
import { actionOf, type BulkAction, type BulkActionName } from './bulk-actions.js';
import type { BulkPlans } from './bulk-plans.js';
import type { ClientWriter } from './client-writer.js';
import { isEmpty } from './edit.js';
import { pickClients } from './pick-clients.js';
import type { ClientPortionsApi, Portion, PortionOutcome, SkippedTarget, Target } from './portion.js';
import type { WriteRequest } from './write-request.js';

interface Plan extends Pick<WriteRequest, 'edits' | 'deleted' | 'keepTraffic' | 'also'> {
  readonly skipped?: readonly SkippedTarget[];
}
type Settle = (tx: Tx, outcome: PortionOutcome) => Promise<void>;
type Seen = Pick<ClientRow, 'updatedAt' | 'expiryTime' | 'totalGB' | 'enable'>;

const targetOf = ({ id, email }: Target): Target => ({ id, email });
const skipped = (
  target: Target,
  { code, text }: { readonly code: string; readonly text: string },
  reason = text,
  isPartly = false,
): SkippedTarget => ({ ...targetOf(target), code, reason, isPartly });

export class Portions implements ClientPortionsApi {
  readonly #needs: {
    readonly store: ClientStore;
    readonly lists: ClientLists;
    readonly plans: BulkPlans;
    readonly usage: UsageEdits;
    readonly groups: Groups;
    readonly writer: ClientWriter;
  };

  constructor({
    store,
    lists,
    plans,
    usage,
    groups,
    writer,
  }: {
    store: ClientStore;
    lists: ClientLists;
    plans: BulkPlans;
    usage: UsageEdits;
    groups: Groups;
    writer: ClientWriter;
  }) {
    this.#needs = { store, lists, plans, usage, groups, writer };
  }

  filter(sent: unknown): ClientFilter {
    const { filter } = validate(shape({ filter: ClientFilter }), { filter: sent }, { closed: true });
    const ignored = ignoredPart(filter);
    if (ignored) throw kernelErrors.INVALID(`filter.${ignored.message}`, { path: `filter.${ignored.path}` });
    return filter;
  }

  action(name: BulkActionName, params: unknown): BulkAction {
    const action = actionOf(name, params);
    if (action.name === 'setGroup') this.#needs.groups.requireVisible('params.group', action.params.group);
    if (action.name !== 'attach' && action.name !== 'detach') return action;
    if (action.params.inboundIds.length === 0)
      throw kernelErrors.INVALID('params.inboundIds must name an inbound', { path: 'params.inboundIds' });
    if (action.name === 'attach')
      for (const [id, problem] of this.#needs.plans.unusable(action.params.inboundIds))
        throw kernelErrors.INVALID(`params.inboundIds: inbound ${id}: ${problem}`, {
          path: 'params.inboundIds',
        });
    return action;
  }

  async matching(filter: ClientFilter): Promise<Target[]> {
    return mapInSlices(await this.#needs.lists.all(filter), targetOf);
  }

  named(emails: readonly string[]): { targets: Target[]; unknown: string[] } {
    const { rows, skipped: unknown } = pickClients(this.#needs.store.roster, emails);
    return { targets: rows.map(targetOf), unknown: unknown.map(({ email }) => email) };
  }

  run(portion: Portion, who: Principal, settle: Settle): Promise<Applied> {
    const work = (): Promise<Applied> => this.#run(portion, who, settle);
    return portion.action.name === 'adjust' ? this.#needs.plans.adjustments.run(work) : work();
  }

  async #run({ action, targets, filter }: Portion, who: Principal, settle: Settle): Promise<Applied> {
    const { store, lists, writer } = this.#needs;
    const isMeant = filter && lists.passing(filter);
    const left: SkippedTarget[] = [];
    const rows: ClientRow[] = [];
    for (const target of targets) {
      const row = store.byId(target.id);
      if (!row) left.push(skipped(target, errors.NOT_FOUND));
      else if (isMeant && !isMeant(row)) left.push(skipped(row, errors.NO_LONGER_MEANT));
      else rows.push(row);
    }
    // Rows are live: this is what the plan is made of.
    const seen = new Map<number, Seen>(
      rows.map(({ id, updatedAt, expiryTime, totalGB, enable }) => [
        id,
        { updatedAt, expiryTime, totalGB, enable },
      ]),
    );
    const { skipped: unfit = [], ...plan } = await this.#plan(action, rows, who);
    const skips = new Set(unfit.filter(({ isPartly }) => !isPartly).map(({ id }) => id));
    const touched = new Set([
      ...(plan.edits ?? []).filter((edit) => !isEmpty(edit)).map(({ row }) => row.id),
      ...(plan.deleted ?? []).map(({ id }) => id),
    ]);
    const leaveOut = async (tx: Tx): Promise<ReadonlySet<number>> => {
      const late = await changedSince(tx, seen, rows);
      const gone = new Set(late.map(({ id }) => id));
      let changed = 0;
      for (const { id } of rows) if (touched.has(id) && !gone.has(id) && !skips.has(id)) changed++;
      const others = [...left, ...late, ...unfit.filter(({ id }) => !gone.has(id))];
      const wholly = others.filter(({ isPartly }) => !isPartly).length;
      await settle(tx, { changed, unchanged: targets.length - changed - wholly, skipped: others });
      return gone;
    };
    return (await writer.write({ ...plan, leaveOut, isRecorded: true }, who)).applied;
  }

  async #plan(action: BulkAction, rows: readonly ClientRow[], who: Principal): Promise<Plan> {
    const { plans, usage, groups } = this.#needs;
    switch (action.name) {
      case 'enable':
      case 'disable': {
        const { edits, held } = await plans.setEnable(rows, action.name === 'enable', who);
        return { edits, skipped: held.map((row) => skipped(row, errors.AT_LIMIT)) };
      }
      case 'adjust': {
        const { limitHwid, ...wanted } = action.params;
        const { edits, unfit } = await plans.adjust(rows, { ...wanted, limitHwid }, who);
        const adjusted = new Set(edits.map(({ row }) => row.id));
        return {
          edits,
          skipped: unfit.map(({ row, reason }) =>
            skipped(row, errors.NOT_ADJUSTABLE, reason, adjusted.has(row.id)),
          ),
        };
      }
      case 'resetTraffic':
        return { edits: usage.planResets(rows) };
      case 'delete':
        return { deleted: rows, keepTraffic: action.params.keepTraffic };
      case 'attach': {
        const ids = [...new Set(action.params.inboundIds)];
        const problems = plans.unusable(ids);
        const usable = ids.filter((id) => !problems.has(id));
        const [first] = problems;
        const reason = first && `inbound ${first[0]}: ${first[1]}`;
        return {
          edits: plans.attach(rows, usable),
          skipped:
            reason === undefined
              ? []
              : rows.map((row) => skipped(row, errors.NOT_ATTACHABLE, reason, usable.length > 0)),
        };
      }
      case 'detach':
        return { edits: plans.detach(rows, action.params.inboundIds) };
      case 'setGroup': {
        const { group } = action.params;
        return {
          edits: plans.regroup(rows, group),
          also: group === '' ? undefined : (tx) => groups.ensure(tx, group, who),
        };
      }
    }
  }
}

/** Clients that are not what they were when they were planned, with the reason. Memory may lack the write before this one. */
async function changedSince(
  tx: Tx,
  seen: ReadonlyMap<number, Seen>,
  rows: readonly ClientRow[],
): Promise<SkippedTarget[]> {
  if (rows.length === 0) return [];
  const stored = await tx.query<Seen & { id: number }>(
    'SELECT id, updated_at AS "updatedAt", expiry_time AS "expiryTime", total_gb AS "totalGB", enable FROM clients WHERE id IN (:ids)',
    { ids: [...seen.keys()] },
  );
  const now = new Map(stored.map((row) => [Number(row.id), row]));
  return rows.flatMap((row) => {
    const before = seen.get(row.id);
    const after = now.get(row.id);
    if (!after) return [skipped(row, errors.NOT_FOUND)];
    const isSame =
      before &&
      Number(after.updatedAt) === before.updatedAt &&
      Number(after.expiryTime) === before.expiryTime &&
      Number(after.totalGB) === before.totalGB &&
      Boolean(after.enable) === before.enable;
    return isSame ? [] : [skipped(row, errors.CHANGED_MEANWHILE)];
  });
}
