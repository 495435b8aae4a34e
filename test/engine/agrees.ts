// What a fault must leave behind: nothing that disagrees.
import type { ExecutionContext } from 'ava';
import { until } from '../harness/until.js';
import { weirCommand } from '../harness/weir-command.js';

/** Database, memory and core of the panel that runs agree, and only what a database server has no answer for is unchecked. A core that has just begun, or was adopted, is compared within seconds. */
export async function agrees(
  t: ExecutionContext,
  { dataDirectory }: { readonly dataDirectory: string },
  { when = '', env = {} }: { readonly when?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const check = () => weirCommand(dataDirectory, ['invariants'], env);
  let last = await check();
  await until(async () => last.code === 0 || (last = await check()).code === 0, `${when}: all agrees`).catch(
    () => undefined,
  );
  t.is(last.code, 0, `${when}\n${last.said}${last.complained}`);
  t.false(/not checked: (?!a database server)/.test(last.said), last.said);
}
