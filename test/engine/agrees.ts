// What a fault must leave behind: nothing that disagrees.
import type { ExecutionContext } from 'ava';
import { until } from '../harness/until.js';
import { weirCommand } from '../harness/weir-command.js';

/** Database, memory and core of the panel that runs agree. A core that has just begun is compared within seconds. */
export async function agrees(
  t: ExecutionContext,
  { dataDirectory }: { readonly dataDirectory: string },
): Promise<void> {
  const check = () => weirCommand(dataDirectory, ['invariants']);
  let last = await check();
  await until(async () => last.code === 0 || (last = await check()).code === 0, 'all agrees').catch(
    () => undefined,
  );
  t.is(last.code, 0, last.said + last.complained);
}
