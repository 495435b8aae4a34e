// Subscriptions to lists of outbounds, recognised by address, and what outbounds carried.
import type { OutboundSubEditsApi } from '../../outbound-subs/contract.js';
import type { OutboundCountsApi } from '../../outbound-traffic/contract.js';
import { type Context, leaveAll, take } from '../context.js';
import { countOf, fieldsOf, flagOf, textOf } from '../values.js';

const SUBS = 'outbound_subscriptions';
const TRAFFICS = 'outbound_traffics';
const LONGEST_TAG = 255;
const MOST = 10_000;

export async function importOutboundSubs(
  context: Context,
  subs: OutboundSubEditsApi | undefined,
): Promise<void> {
  const { source, report, who, dryRun } = context;
  if (!subs) return leaveAll(context, SUBS, 'outbound-subs');
  for await (const row of source.rows(SUBS)) {
    const url = textOf(row['url']).trim();
    const name = textOf(row['remark']) || url;
    if (subs.urls().includes(url)) {
      report.present(SUBS);
      continue;
    }
    const sub = {
      ...fieldsOf(row, ['remark', 'tag_prefix', 'update_interval']),
      url,
      enabled: flagOf(row['enabled'], true),
      allowPrivate: flagOf(row['allow_private']),
      allowInsecure: flagOf(row['allow_insecure']),
      prepend: flagOf(row['prepend']),
    };
    await take(context, { table: SUBS, name }, async () => {
      if (dryRun) subs.check(sub);
      else await subs.add(sub, who);
    });
  }
}

export async function importOutboundTraffics(
  context: Context,
  counts: OutboundCountsApi | undefined,
): Promise<void> {
  const { source, report, who, dryRun } = context;
  if (!counts) return leaveAll(context, TRAFFICS, 'outbound-traffic');
  const wanted: { tag: string; up: number; down: number }[] = [];
  for await (const row of source.rows(TRAFFICS)) {
    const count = { tag: textOf(row['tag']), up: countOf(row['up']), down: countOf(row['down']) };
    const here = counts.counted(count.tag);
    if (count.tag === '' || count.tag.length > LONGEST_TAG)
      report.left(TRAFFICS, 'its tag is blank or too long');
    else if (wanted.length >= MOST) report.left(TRAFFICS, `only the first ${MOST} are taken`);
    else if (here && here.up + here.down >= count.up + count.down) report.present(TRAFFICS);
    else wanted.push(count);
  }
  if (wanted.length === 0) return;
  const before = new Map(wanted.map(({ tag }) => [tag, counts.counted(tag) ?? { up: 0, down: 0 }]));
  if (!dryRun) await counts.adopt(wanted, who);
  report.taken(TRAFFICS, wanted.length);
  for (const { tag, up, down } of dryRun ? [] : wanted) {
    const was = before.get(tag) ?? { up: 0, down: 0 };
    const is = counts.counted(tag) ?? { up: 0, down: 0 };
    report.sum('bytes up of outbounds', up, is.up - was.up);
    report.sum('bytes down of outbounds', down, is.down - was.down);
  }
}
