// Makes a group of clients as a file says: `node dist/reconcile.js clients.json` shows the plan, with --apply it is carried out.
import { parseArgs } from 'node:util';
import { PanelFailure, PanelUnreachable, Weir } from '@weir-panel/sdk';
import { apply } from './apply.js';
import { Conflict, linesOf, planOf } from './plan.js';
import { readWishes, WrongFile } from './wishes.js';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { apply: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0)
    throw new WrongFile('name one file: reconcile clients.json [--apply]');
  const wishes = await readWishes(path);
  const { WEIR_URL = '', WEIR_TOKEN = '' } = process.env;
  const weir = new Weir({ url: WEIR_URL, token: WEIR_TOKEN });
  const plan = planOf(wishes, await weir.clients.listAll());
  const lines = linesOf(plan);
  for (const line of lines) console.log(line);
  if (lines.length === 0) return void console.log('nothing to do');
  if (!values.apply) return void console.log(`${lines.length} steps; --apply carries them out`);
  const left = await apply(weir, wishes, plan);
  console.log(`${lines.length - left.length} steps done`);
  for (const line of left) console.error(`not done: ${line}`);
  if (left.length > 0) process.exitCode = 1;
}

await main().catch((error: Error) => {
  process.exitCode = 1;
  if (error instanceof PanelFailure) {
    console.error(`the panel refuses: ${error.message} (${error.code}, request ${error.requestId})`);
    for (const { path, message } of error.issues) console.error(`  ${path}: ${message}`);
  } else if (
    error instanceof PanelUnreachable ||
    error instanceof WrongFile ||
    error instanceof Conflict ||
    error instanceof TypeError
  )
    console.error(error.message);
  else console.error(error);
});
