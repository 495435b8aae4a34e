// Runs on every database in test:full.
// What other panels push: stored, shown where it belongs, and cleared with resets.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { servicesOf } from '../../../test/harness/services-of.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import plugin from '../index.js';
import type { GlobalTotals } from '../totals.js';

const observed = servicesOf<{ totals: GlobalTotals }>(plugin);
const clock = new FakeClock();
const engine = new FakeEngine();
const HOUR = 3_600_000;
let panel: TestPanel;
let inboundId = 0;

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin, observed.plugin], clock });
  inboundId = await panel.addInbound();
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

interface Usage {
  readonly up: number;
  readonly down: number;
}
const post = (path: string, body?: unknown) =>
  panel.get<unknown>(`/panel/api/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
const push = (masterGuid: string, ...traffics: readonly [email: string, up: number, down: number][]) =>
  post('inbounds/pushClientTraffics', {
    masterGuid,
    traffics: traffics.map(([email, up, down]) => ({ email, up, down })),
  });
const used = async (email: string): Promise<[number, number]> => {
  const { up, down } = await panel.get<Usage>(`/panel/api/clients/traffic/${email}`);
  return [up, down];
};
const local = (email: string, upload: number, download: number) =>
  post(`clients/updateTraffic/${email}`, { upload, download });
/** Memory equals the database. */
async function agrees(): Promise<unknown[]> {
  const { projection } = observed.services.totals;
  const flat = (state: typeof projection.state) =>
    [...state.values()].flatMap((rows) => [...rows.values()]).sort((a, b) => a.clientId - b.clientId);
  const shown = (rows: ReturnType<typeof flat>) =>
    rows.map(({ clientId, masterGuid, up, down, updatedAt }) => [clientId, masterGuid, up, down, updatedAt]);
  return [shown(flat(projection.state)), shown(flat(await projection.fresh()))];
}

test.serial(
  'shows the greater of our own and what is pushed, each number for itself, in all replies but inbounds/list',
  async (t) => {
    const { id } = await panel.addClient('ada', [inboundId], { totalGB: 1000 });
    await local('ada', 100, 20);
    await push('master-1', ['ada', 50, 700], ['nobody', 1, 2]);
    await push('master-2', ['ada', 150, 600]);
    t.deepEqual(await used('ada'), [150, 700]);
    const usage = { up: 150, down: 700 };
    t.like(await panel.get('/panel/api/clients/get/ada'), { traffic: usage });
    t.like((await panel.get<{ traffic: Usage }[]>('/panel/api/clients/list'))[0], { traffic: usage });
    t.like((await panel.get<{ items: { traffic: Usage }[] }>('/panel/api/clients/list/paged')).items[0], {
      traffic: usage,
    });
    const stats = async (path: string) =>
      (await panel.get<{ clientStats: (Usage & { id: number })[] }[]>(`/panel/api/inbounds/${path}`))
        .flatMap(({ clientStats }) => clientStats)
        .find((record) => record.id === id);
    t.like(await stats('list/slim'), usage);
    t.like(await stats('list'), { up: 100, down: 20 }, 'other panels take differences of it');
    t.like(await panel.get('/panel/api/clients/get/ada'), { enable: true }, 'no limit acts on it');
    const [memory, rows] = await agrees();
    t.deepEqual(memory, rows);
  },
);

test.serial(
  'a later push overwrites, also with less; unchanged rows are not written again within an hour',
  async (t) => {
    await panel.addClient('low', [inboundId]);
    await push('master-1', ['low', 50, 700]);
    const first = observed.services.totals.projection.state;
    const row = () => [...first.values()].flatMap((rows) => [...rows.values()]).find(({ up }) => up === 5);
    await push('master-1', ['low', 5, 7]);
    t.deepEqual(await used('low'), [5, 7]);
    const written = row()?.updatedAt;
    clock.tick(30_000);
    await push('master-1', ['low', 5, 7]);
    t.is(row()?.updatedAt, written);
    clock.tick(HOUR);
    await push('master-1', ['low', 5, 7]);
    t.is(row()?.updatedAt, clock.now());
  },
);

test.serial('what is older than a day is not shown, and deleted', async (t) => {
  await panel.addClient('old', [inboundId]);
  await push('master-1', ['old', 5, 7]);
  clock.tick(24 * HOUR - 1);
  await panel.login();
  t.deepEqual(await used('old'), [5, 7]);
  clock.tick(1);
  t.deepEqual(await used('old'), [0, 0]);
  clock.tick(HOUR);
  await panel.kernel.settled();
  t.deepEqual(await agrees(), [[], []]);
});

test.serial('every reset clears it, an edit does not', async (t) => {
  const emails = ['reset-1', 'reset-2', 'reset-3', 'reset-4', 'edited'];
  for (const email of emails) await panel.addClient(email, [inboundId]);
  const pushAll = () => push('master-1', ...emails.map((email): [string, number, number] => [email, 5, 7]));
  await pushAll();
  await local('reset-1', 1, 1);
  await post('clients/update/edited', { comment: 'a word' });
  await post('clients/bulkDisable', { emails: ['edited'] });
  const second = await panel.addInbound();
  await post('clients/edited/attach', { inboundIds: [second] });
  for (const email of emails) t.deepEqual(await used(email), [5, 7], email);
  await post('clients/resetTraffic/reset-1');
  await post('clients/bulkResetTraffic', { emails: ['reset-2'] });
  await post('clients/del/reset-3');
  t.deepEqual(
    [await used('reset-1'), await used('reset-2')],
    [
      [0, 0],
      [0, 0],
    ],
  );
  t.deepEqual(await used('reset-4'), [5, 7]);
  await post('clients/resetAllTraffics');
  for (const email of ['reset-4', 'edited']) t.deepEqual(await used(email), [0, 0], email);
  t.deepEqual(await agrees(), [[], []]);
  await pushAll();
  t.deepEqual(await used('reset-1'), [5, 7], 'pushed again, with unchanged numbers');
  await panel.addClient('reset-3', [inboundId]);
  t.deepEqual(await used('reset-3'), [0, 0], 'of a deleted client nothing is left');
});

test.serial('a blank guid, our own and an empty list store nothing and succeed', async (t) => {
  await panel.addClient('blank', [inboundId]);
  const guid = Object.keys((await post('clients/onlinesByGuid')) as object)[0] ?? '';
  await push('', ['blank', 5, 7]);
  await push(guid, ['blank', 5, 7]);
  await push('master-1');
  t.deepEqual(await used('blank'), [0, 0]);
});

test.serial('refuses what is no push, names the field and stores nothing', async (t) => {
  await panel.addClient('strict', [inboundId]);
  const good = { email: 'strict', up: 1, down: 1 };
  const bad: [unknown, RegExp][] = [
    [{ traffics: [good] }, /masterGuid/],
    [{ masterGuid: "x'; DROP TABLE clients; --", traffics: [good] }, /masterGuid/],
    [{ masterGuid: 'm'.repeat(65), traffics: [good] }, /masterGuid/],
    [{ masterGuid: 'm' }, /traffics/],
    [{ masterGuid: 'm', traffics: [good, { ...good, up: -1 }] }, /up/],
    [{ masterGuid: 'm', traffics: [good, { ...good, down: 2 ** 60 }] }, /down/],
    [{ masterGuid: 'm', traffics: [good, { ...good, up: 1.5 }] }, /up/],
    [{ masterGuid: 'm', traffics: [good, { up: 1, down: 1 }] }, /email/],
  ];
  for (const [body, names] of bad) {
    const answer = await panel.call('/panel/api/inbounds/pushClientTraffics', { body });
    t.is(answer.status, 400, JSON.stringify(body));
    t.regex(answer.text, names);
  }
  t.deepEqual(await used('strict'), [0, 0]);
});

test.serial('a seventeenth panel is refused, those that are known are not', async (t) => {
  await panel.addClient('many', [inboundId]);
  for (let i = 0; i < 16; i++) await push(`master-${i}`, ['many', i, 1]);
  const answer = await panel.call('/panel/api/inbounds/pushClientTraffics', {
    body: { masterGuid: 'one-more', traffics: [{ email: 'many', up: 99, down: 99 }] },
  });
  t.like([answer.status, answer.body.code], [409, 'GLOBAL_TRAFFIC_TOO_MANY_MASTERS']);
  await push('master-3', ['many', 50, 1]);
  t.deepEqual(await used('many'), [50, 1]);
});

test.serial('a restart knows what was pushed', async (t) => {
  const before = await used('many');
  await panel.stop();
  const { dataDirectory } = panel;
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock, dataDirectory });
  t.deepEqual(await used('many'), before);
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
});

test.serial(
  'a renewal and a reset by schedule clear what is pushed, also where nothing was counted here',
  async (t) => {
    const expiryTime = clock.now() + 1000;
    await panel.addClient('renewed', [inboundId], { expiryTime, reset: 30 });
    await panel.addClient('hourly', [inboundId], { trafficReset: 'hourly' });
    await push('master-1', ['renewed', 50, 700], ['hourly', 50, 700]);
    clock.tick(5000);
    await panel.kernel.settled();
    t.deepEqual(await used('renewed'), [0, 0]);
    clock.tick(HOUR);
    await panel.kernel.settled();
    await panel.login();
    t.deepEqual(await used('hourly'), [0, 0]);
  },
);
