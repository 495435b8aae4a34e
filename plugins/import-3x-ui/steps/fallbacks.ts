// Fallbacks of an inbound, together: their order matters.
import type { FallbacksApi, SentFallback } from '../../fallbacks/contract.js';
import { type Context, leaveAll, NOT_MADE, take } from '../context.js';
import type { SourceRow } from '../source/known-tables.js';
import { countOf, textOf } from '../values.js';

const TABLE = 'inbound_fallbacks';
/** Rows that are held at once; each inbound has a few. */
const MOST = 20_000;

export async function importFallbacks(context: Context, fallbacks: FallbacksApi | undefined): Promise<void> {
  const { source, report, inboundIds, who, dryRun } = context;
  if (!fallbacks) return leaveAll(context, TABLE, 'fallbacks');
  const byMaster = new Map<number, SourceRow[]>();
  let count = 0;
  for await (const row of source.rows(TABLE)) {
    const master = Number(row['master_id']);
    if (++count > MOST) report.left(TABLE, `only the first ${MOST} are read`);
    else byMaster.set(master, [...(byMaster.get(master) ?? []), row]);
  }
  for (const [theirs, rows] of byMaster) {
    const masterId = inboundIds.get(theirs);
    const name = `of inbound ${theirs}`;
    const sent: SentFallback[] = [];
    for (const row of rows.sort((a, b) => Number(a['sort_order'] ?? 0) - Number(b['sort_order'] ?? 0))) {
      const child = Number(row['child_id'] ?? 0);
      const childId = child === 0 ? 0 : inboundIds.get(child);
      const dest = textOf(row['dest']);
      if (masterId === undefined || (childId === undefined && dest === ''))
        report.left(TABLE, 'its inbound is not here', name);
      else
        sent.push({
          childId: childId ?? 0,
          name: textOf(row['name']),
          alpn: textOf(row['alpn']) as NonNullable<SentFallback['alpn']>,
          path: textOf(row['path']),
          dest,
          xver: countOf(row['xver']),
        });
    }
    if (masterId === undefined || sent.length === 0) continue;
    if (masterId !== NOT_MADE && fallbacks.of(masterId).length > 0) report.present(TABLE, sent.length);
    else
      await take(context, { table: TABLE, name, rows: sent.length }, async () => {
        if (!dryRun) await fallbacks.replace(masterId, sent, who);
      });
  }
}
