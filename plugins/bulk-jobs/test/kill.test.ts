// Runs on every database.
// A panel that is killed at any step of a portion goes on with its job, and no client gets its days twice or never.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { PanelApi } from '../../../test/harness/api.js';
import { dropDatabase } from '../../../test/harness/database.js';
import type { DyingPanel } from './dying-panel.js';
import { addClients, clientsOf, DAY_MS, ended, EXPIRY, jobOf, start } from './world.js';

const CLIENTS = 2_600;
const DAYS = 30;
const PROGRAM = fileURLToPath(new URL('./dying-panel.js', import.meta.url));

class Remote extends PanelApi {
  override readonly url: string;
  readonly #child: ChildProcess;
  readonly #over: Promise<unknown>;

  constructor(child: ChildProcess, over: Promise<unknown>, { url, cookie, csrf }: DyingPanel) {
    super();
    Object.assign(this, { cookie, csrf });
    this.url = url;
    this.#child = child;
    this.#over = over;
  }
  protected override told() {
    return [];
  }
  /** Resolves with the signal that ended it. */
  async died(): Promise<NodeJS.Signals | null> {
    await this.#over;
    return this.#child.signalCode;
  }
  kill(): Promise<NodeJS.Signals | null> {
    this.#child.kill('SIGKILL');
    return this.died();
  }
}

async function boot(t: ExecutionContext, folder: string, moment = ''): Promise<Remote> {
  const child = fork(PROGRAM, [folder, moment]);
  const over = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await over;
  });
  const [told] = (await Promise.race([
    once(child, 'message'),
    over.then(() => Promise.reject(new Error(`the panel ended before it was ready: ${moment}`))),
  ])) as [DyingPanel];
  return new Remote(child, over, told);
}

test('days are added once to each client, through kill -9 before and after the commit of a portion', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  let panel = await boot(t, folder, 'during:2');
  await addClients(panel, await panel.addInbound(), CLIENTS);
  const { id } = await start(panel, { action: 'adjust', params: { addDays: DAYS }, filter: {} });
  t.is(await panel.died(), 'SIGKILL');
  // It goes on by itself, before anybody asks.
  panel = await boot(t, folder, 'after:2').catch(() => panel);
  t.is(await panel.died(), 'SIGKILL');
  panel = await boot(t, folder, 'during:2').catch(() => panel);
  t.is(await panel.died(), 'SIGKILL');
  panel = await boot(t, folder);
  t.like(await ended(panel, id), { state: 'done', total: CLIENTS, changed: CLIENTS, skipped: 0, failed: 0 });
  const added = (await clientsOf(panel)).map(({ expiryTime }) => (expiryTime - EXPIRY) / DAY_MS);
  t.is(added.length, CLIENTS);
  t.deepEqual([...new Set(added)], [DAYS]);

  // What was acknowledged is not lost, also if nothing of it was begun.
  const next = await start(panel, { action: 'disable', filter: {} });
  await panel.kill();
  panel = await boot(t, folder);
  t.like(await ended(panel, next.id), { state: 'done', changed: CLIENTS });
  t.is((await jobOf(panel, id)).changed, CLIENTS);
  await panel.kill();
});
