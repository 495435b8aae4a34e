// Runs on every database in test:full.
// A panel that is killed again and again while callers wait and repeat: each call is done once, and answered as the first was.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const DAY = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const CALLS = 48;
const KILLS = 3;
const AT_ONCE = 6;
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };

test('a program that repeats its calls after kill -9 has each of them done once', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  let panel = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const inbound = await panel.addInbound();
  const second = await panel.addInbound();
  await panel.addClient('ada', [inbound], { expiryTime: START });
  await panel.addClient('eve', [inbound]);

  const body = (i: number): [path: string, body: unknown] =>
    [
      // Who counts the days knows how often it was done.
      ['clients/bulkAdjust', { emails: ['ada'], addDays: 1 }] as [string, unknown],
      ['clients/add', { client: { email: `c${i}` }, inboundIds: [inbound] }] as [string, unknown],
      [
        'clients/bulkCreate',
        Array.from({ length: 40 }, (_, n) => ({
          client: { email: n === 7 ? 'ada' : `c${i}-${n}` },
          inboundIds: [inbound, second],
        })),
      ] as [string, unknown],
      ['clients/groups/create', { name: `group ${i}` }] as [string, unknown],
      ['setting/apiTokens/create', { name: `token ${i}` }] as [string, unknown],
      ['hosts/add', { remark: `host ${i}`, inboundIds: [inbound] }] as [string, unknown],
      [
        'inbounds/add',
        {
          protocol: 'vless',
          port: 30_000 + i,
          listen: '127.0.0.1',
          settings: { clients: [{ email: `in${i}` }] },
        },
      ] as [string, unknown],
      [
        'inbounds/import',
        {
          data: {
            protocol: 'vless',
            port: 31_000 + i,
            listen: '127.0.0.1',
            settings: { clients: [{ email: `im${i}` }] },
          },
        },
      ] as [string, unknown],
    ][i % 8] as [string, unknown];
  const send = (i: number) => {
    const [path, sent] = body(i);
    return panel.call(`/panel/api/${path}`, { body: sent, headers: { 'Idempotency-Key': `call-${i}` } });
  };
  const answers = new Map<number, { text: string; replayed: boolean }>();
  const caller = async (calls: number[]) => {
    for (let i = calls.pop(); i !== undefined; i = calls.pop()) {
      const { status, text, headers } = await send(i);
      t.is(status, 200, `${body(i)[0]}: ${text}`);
      answers.set(i, { text, replayed: headers.get('idempotency-replayed') === 'true' });
    }
  };
  const left = (): number[] => Array.from({ length: CALLS }, (_, i) => i).filter((i) => !answers.has(i));
  for (let kill = 0; kill < KILLS; kill++) {
    const calls = left();
    const most = answers.size + Math.floor(CALLS / (KILLS + 1));
    const wait = below(40);
    const killing = (async () => {
      while (answers.size < most) await sleep(1);
      await sleep(wait);
      await panel.kill('SIGKILL');
    })();
    await Promise.allSettled([...Array.from({ length: AT_ONCE }, () => caller(calls)), killing]);
    panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  }
  await caller(left());

  for (const [i, { text }] of answers) {
    const { status, text: again, headers } = await send(i);
    t.deepEqual([status, again, headers.get('idempotency-replayed')], [200, text, 'true'], body(i)[0]);
  }
  const { expiryTime } = await panel.get<{ expiryTime: number }>('/panel/api/clients/get/ada');
  t.is((expiryTime - START) / DAY, CALLS / 8, 'each day was added once');
  const clients = await panel.get<{ email: string }[]>('/panel/api/clients/list');
  t.is(clients.length, 2 + (CALLS / 8) * (1 + 39 + 1 + 1));
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 2 + (CALLS / 8) * 2);
  t.is((await panel.get<unknown[]>('/panel/api/setting/apiTokens')).length, CALLS / 8);
  t.is((await panel.get<unknown[]>('/panel/api/hosts/list')).length, CALLS / 8);
  for (const { text } of answers.values())
    t.false(text.includes('"skipped":[]') && text.includes('"created"'));
});
