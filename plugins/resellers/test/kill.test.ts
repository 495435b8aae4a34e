// Runs on every database.
// A panel that is killed in the write of a reseller: client and quota are both there or both not, and the same call again
// with its key counts once.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { PanelApi } from '../../../test/harness/api.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { addSeller, GIB, login, OWN, Seller } from './world.js';

const PROGRAM = fileURLToPath(new URL('./dying-panel.js', import.meta.url));

class Remote extends PanelApi {
  override readonly url: string;
  readonly #child: ChildProcess;
  readonly #over: Promise<unknown>;

  constructor(
    child: ChildProcess,
    over: Promise<unknown>,
    told: { url: string; cookie: string; csrf: string },
  ) {
    super();
    this.url = told.url;
    this.cookie = told.cookie;
    this.csrf = told.csrf;
    this.#child = child;
    this.#over = over;
  }
  protected override told() {
    return [];
  }
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
  ])) as [{ url: string; cookie: string; csrf: string }];
  return new Remote(child, over, told);
}

test('kill -9 before and after the commit leaves client and quota alike', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  let panel = await boot(t, folder);
  const inbound = await panel.addInbound();
  const { id, admin } = await addSeller(panel, 'north', { inboundIds: [inbound], maxBytes: 10 * GIB });
  await panel.kill();
  const body = { email: 'ada', inboundIds: [inbound], totalGB: 6 * GIB };
  const key = { 'idempotency-key': 'the-same-each-time' };
  const north = async (): Promise<Seller> => new Seller(panel, await login(panel, 'north'), { id, admin });
  const add = async (): Promise<number> => {
    const seller = await north();
    return (await seller.call(`${OWN}/clients`, body, key)).status;
  };
  for (const moment of ['during', 'after']) {
    panel = await boot(t, folder, moment);
    await t.throwsAsync(add());
    t.is(await panel.died(), 'SIGKILL', moment);
    panel = await boot(t, folder);
    const is = moment === 'after';
    const { clients, givenBytes } = await (await north()).figures();
    t.deepEqual([clients, givenBytes / GIB], is ? [1, 6] : [0, 0], moment);
    await panel.kill();
  }
  panel = await boot(t, folder);
  t.is(await add(), 200, 'the client knows nothing of the kills, and asks again');
  const seller = await north();
  t.deepEqual(await seller.emails(), ['ada']);
  t.is(await seller.given(), 6);
  t.is(await seller.told(`${OWN}/clients`, { ...body, email: 'grace' }), '409 BYTE_QUOTA');
  await panel.kill();
});
