import type { ClientArrivalsApi } from '../../clients/contract.js';
import { type Context, take } from '../context.js';
import { kernelErrors } from '../../../kernel/index.js';
import { textOf } from '../values.js';

const TABLE = 'client_groups';

export async function importGroups(context: Context, clients: ClientArrivalsApi): Promise<void> {
  const { source, report, dryRun, who } = context;
  for await (const row of source.rows(TABLE)) {
    const name = textOf(row['name']).trim();
    const baseline = { up: Number(row['reset_up'] ?? 0), down: Number(row['reset_down'] ?? 0) };
    if (clients.hasGroup(name)) report.present(TABLE);
    else
      await take(context, { table: TABLE, name }, async () => {
        const problem = clients.groupProblem(name, baseline);
        if (problem !== undefined) throw kernelErrors.INVALID(problem);
        if (!dryRun) await clients.addGroup(name, baseline, who);
      });
  }
}
