// Balancers of the JSON subscription, recognised by name.
import type { BalancerEditsApi } from '../../sub-balancers/contract.js';
import { type Context, leaveAll, NOT_MADE, take } from '../context.js';
import { flagOf, isObject, jsonOf, textOf } from '../values.js';

const TABLE = 'sub_balancers';

export async function importBalancers(
  context: Context,
  balancers: BalancerEditsApi | undefined,
): Promise<void> {
  const { source, report, inboundIds, who, dryRun } = context;
  if (!balancers) return leaveAll(context, TABLE, 'sub-balancers');
  for await (const row of source.rows(TABLE)) {
    const remark = textOf(row['remark']).trim();
    if (balancers.list().some((one) => one.remark === remark)) {
      report.present(TABLE);
      continue;
    }
    const theirs = jsonOf(row['inbound_ids']);
    const ids = (Array.isArray(theirs) ? theirs : []).flatMap(
      (id: unknown) => inboundIds.get(Number(id)) ?? [],
    );
    const weights = jsonOf(row['member_weights']);
    const memberWeights = Object.fromEntries(
      Object.entries(isObject(weights) ? weights : {}).flatMap(([id, weight]) => {
        const here = inboundIds.get(Number(id));
        return here === undefined ? [] : [[String(here), weight]];
      }),
    );
    const missing = (Array.isArray(theirs) ? theirs.length : 0) - ids.length;
    const balancer = {
      remark,
      strategy: textOf(row['strategy']),
      inboundIds: ids,
      ...(textOf(row['strategy']) === 'leastLoad' && { memberWeights }),
      sortOrder: row['sort_order'],
      enabled: flagOf(row['enabled'], true),
    };
    const isTaken = await take(context, { table: TABLE, name: remark }, async () => {
      if (dryRun)
        balancers.check({ ...balancer, memberWeights: {}, inboundIds: ids.map((id) => id || NOT_MADE + 1) });
      else await balancers.add(balancer, who);
    });
    if (isTaken && missing > 0) report.changed(TABLE, 'without inbounds that are not here', remark);
  }
}
