// Runs on every database in test:full.
// A panel that is killed while it undoes: the undo is done as a whole and once, or not at all.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };
const CLIENTS = 300;
const KILLS = 6;

interface Client {
  readonly id: number;
  readonly email: string;
  readonly enable: boolean;
  readonly uuid: string;
}
interface Change {
  readonly entry: number;
  readonly undoes: number;
  readonly undoable: boolean;
}

test('after kill -9 during an undo all of it is there once, or nothing', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  let panel = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const inbound = await panel.addInbound();
  const emails = Array.from({ length: CLIENTS }, (_, i) => `c${i}`);
  await panel.get('/panel/api/clients/bulkCreate', {
    body: emails.map((email) => ({ client: { email }, inboundIds: [inbound] })),
  });
  const facts = async () =>
    (await panel.get<Client[]>('/panel/api/clients/list')).map(({ id, email, enable, uuid }) => ({
      id,
      email,
      enable,
      uuid,
    }));
  const newest = async (query = '') =>
    (await panel.get<Change[]>(`/panel/api/x/audit/changes?area=client&limit=1${query}`))[0];
  const before = await facts();
  let [done, open] = [0, 0];
  for (let kill = 0; kill < KILLS; kill++) {
    const path = kill % 2 === 0 ? 'bulkDisable' : 'bulkDel';
    await panel.get(`/panel/api/clients/${path}`, { body: { emails } });
    const edited = await facts();
    const entry = (await newest())?.entry ?? 0;
    const undo = () => panel.call(`/panel/api/x/audit/${entry}/undo`, { method: 'POST' });
    const cut = undo().catch(() => undefined);
    await sleep(below(900));
    await panel.kill('SIGKILL');
    const answer = await cut;
    panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
    const now = await facts();
    const isDone = ((await newest())?.undoes ?? 0) === entry;
    t.deepEqual(now, isDone ? before : edited, `${path}, kill ${kill}`);
    // What was acknowledged is there.
    if (answer?.status === 200) t.true(isDone);
    if (isDone) done += 1;
    else open += 1;
    t.is((await undo()).status, isDone ? 409 : 200);
    t.deepEqual(await facts(), before);
  }
  t.log(`${done} were done before the kill, ${open} after it`);
  const { problems } = await panel.get<{ problems: string[] }>('/panel/api/x/audit/verify', { body: {} });
  t.deepEqual(problems, []);
});
