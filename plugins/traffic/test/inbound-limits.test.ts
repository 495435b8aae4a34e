// Runs on every database in test:full.
import test from 'ava';
import { rm } from 'node:fs/promises';
import { definePlugin, Refusal, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { beforeClientSave } from '../../clients/contract.js';

interface Inbound {
  readonly enable: boolean;
  readonly up: number;
  readonly down: number;
  readonly tag: string;
  readonly lastTrafficResetTime: number;
  readonly depletedCause: string | null;
}
interface Client {
  readonly enable: boolean;
  readonly traffic: { readonly up: number; readonly down: number };
}
const API = '/panel/api/inbounds';
const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 15, 12);
const inbound = (panel: TestPanel, id: number): Promise<Inbound> => panel.get(`${API}/get/${id}`);
const client = (panel: TestPanel, email: string): Promise<Client> =>
  panel.get(`/panel/api/clients/get/${email}`);
const update = (panel: TestPanel, id: number, body: object): Promise<unknown> =>
  panel.get(`${API}/update/${id}`, { body });

interface World {
  readonly panel: TestPanel;
  readonly engine: FakeEngine;
  readonly clock: FakeClock;
  /** Moves on and waits until the poll of that moment is over. */
  tick(ms?: number): Promise<void>;
  links(subId: string): Promise<string>;
}
async function boot(options: { dataDirectory?: string; at?: number } = {}): Promise<World> {
  const engine = new FakeEngine();
  const clock = new FakeClock(options.at ?? NOON);
  const panel = await TestPanel.boot({
    plugins: [engine.plugin],
    clock,
    ...(options.dataDirectory && { dataDirectory: options.dataDirectory }),
  });
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'UTC', sessionMaxAge: 525_600 } });
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  return {
    panel,
    engine,
    clock,
    tick: async (ms = 5000) => {
      // A second poll covers the jump of the clock and what it brings.
      if (ms > 5000) clock.tick(ms - 5000);
      await panel.kernel.settled();
      clock.tick(5000);
      await panel.kernel.settled();
    },
    links: async (subId) =>
      Buffer.from(
        await (await fetch(`${panel.subscriptionUrl}${subPath}${subId}`)).text(),
        'base64',
      ).toString(),
  };
}

test('an inbound over its total is removed from core and subscription with a cause, and returns when the total is raised', async (t) => {
  const { panel, engine, tick, links } = await boot();
  await using _ = panel;
  const [id, other] = [
    await panel.addInbound({ total: 10_000, remark: 'small' }),
    await panel.addInbound({ remark: 'large' }),
  ];
  const { id: clientId, subId } = await panel.addClient('a', [id, other]);
  engine.move(id, clientId, 4000, 5999);
  engine.move(other, clientId, 0, 50_000);
  await tick();
  t.like(await inbound(panel, id), { enable: true, depletedCause: null, up: 4000, down: 5999 });

  engine.move(id, clientId, 1, 0);
  await tick();
  const { tag, ...off } = await inbound(panel, id);
  t.like(off, { enable: false, depletedCause: 'quota', up: 4001, down: 5999 });
  t.false(engine.inbounds.includes(tag));
  t.is(engine.inbounds.length, 1, 'the other one keeps running');
  t.true((await client(panel, 'a')).enable, 'the client may use the other one');
  t.regex(await links(subId), /#large/);
  t.notRegex(await links(subId), /#small/);
  const listed = await panel.get<{ id: number; depletedCause: string | null }[]>(`${API}/list`);
  t.is(listed.find((row) => row.id === id)?.depletedCause, 'quota');

  // Programs send back the whole inbound that they were shown, with `enable`.
  await update(panel, id, { enable: false, total: 20_000 });
  t.like(await inbound(panel, id), { enable: true, depletedCause: null });
  t.true(engine.inbounds.includes(tag));
  t.regex(await links(subId), /#small/);
});

test('an inbound is disabled at its expiry, and a new one past its expiry at once', async (t) => {
  const { panel, engine, tick } = await boot();
  await using _ = panel;
  const id = await panel.addInbound({ expiryTime: NOON + HOUR });
  const past = await panel.addInbound({ expiryTime: NOON - 1 });
  t.like(await inbound(panel, past), { enable: false, depletedCause: 'expiry' });
  await tick(HOUR - 5000);
  t.true((await inbound(panel, id)).enable);
  await tick(5000);
  t.like(await inbound(panel, id), { enable: false, depletedCause: 'expiry' });
  t.deepEqual(engine.inbounds, []);
  await update(panel, id, { expiryTime: 0 });
  await update(panel, past, { expiryTime: NOON + 9 * HOUR });
  t.is(engine.inbounds.length, 2);
});

test('an inbound that an admin disabled stays disabled, and enabling it at a limit waits for the end of the limit', async (t) => {
  const { panel, engine, tick } = await boot();
  await using _ = panel;
  const id = await panel.addInbound({ total: 1000 });
  const { id: clientId } = await panel.addClient('a', [id]);
  engine.move(id, clientId, 0, 1000);
  await tick();
  t.is((await inbound(panel, id)).depletedCause, 'quota');
  const answer = await panel.call(`${API}/setEnable/${id}`, { body: { enable: true } });
  t.true(answer.body.success);
  t.regex(answer.body.msg, /stays disabled until its total is raised or its traffic reset/);
  t.like(await inbound(panel, id), { enable: false, depletedCause: 'quota' });

  await panel.get(`${API}/setEnable/${id}`, { body: { enable: false } });
  t.like(await inbound(panel, id), { enable: false, depletedCause: null });
  await update(panel, id, { total: 0 });
  await panel.get(`${API}/${id}/resetTraffic`, { method: 'POST' });
  t.like(await inbound(panel, id), { enable: false, up: 0, down: 0 });
  await refused(
    t,
    panel,
    `${API}/999/resetTraffic`,
    { method: 'POST' },
    { status: 404, code: 'INBOUNDS_NOT_FOUND', field: 'id' },
  );
});

test('a reset by an admin enables an inbound, and leaves its clients unchanged', async (t) => {
  const { panel, engine, tick } = await boot();
  await using _ = panel;
  const ids = [await panel.addInbound({ total: 1000 }), await panel.addInbound({ total: 1000 })];
  const { id: clientId } = await panel.addClient('a', ids, { totalGB: 5000 });
  const over = async (): Promise<void> => {
    for (const id of ids) engine.move(id, clientId, 0, 1000);
    await tick();
    t.deepEqual(engine.inbounds, []);
  };
  await over();
  await panel.get(`${API}/${ids[0]}/resetTraffic`, { method: 'POST' });
  t.is(engine.inbounds.length, 1);
  t.like(await inbound(panel, ids[0] as number), { enable: true, down: 0, lastTrafficResetTime: 0 });
  await over();
  await panel.get(`${API}/resetAllTraffics`, { method: 'POST' });
  t.is(engine.inbounds.length, 2);
  t.is((await client(panel, 'a')).traffic.down, 4000);
});

test('a period ends once: it resets the inbound and its clients, and enables those that were at a quota', async (t) => {
  const { panel, engine, tick } = await boot();
  await using _ = panel;
  const daily = await panel.addInbound({ trafficReset: 'daily', total: 3000 });
  const never = await panel.addInbound();
  const a = await panel.addClient('a', [daily], { totalGB: 2000 });
  await panel.addClient('b', [daily], { enable: false });
  const c = await panel.addClient('c', [never]);
  engine.move(daily, a.id, 0, 3000);
  engine.move(never, c.id, 0, 500);
  await tick();
  t.like(await inbound(panel, daily), { enable: false, depletedCause: 'quota', lastTrafficResetTime: 0 });
  t.false((await client(panel, 'a')).enable);

  await tick(11 * HOUR);
  t.is((await inbound(panel, daily)).down, 3000, 'the day is not over');
  // Bytes that no poll has seen belong to the day that ends.
  engine.move(daily, a.id, 0, 100);
  await tick(HOUR);
  const reset = await inbound(panel, daily);
  t.like(reset, { enable: true, depletedCause: null, up: 0, down: 0 });
  t.true(reset.lastTrafficResetTime >= NOON + 12 * HOUR);
  t.like(await client(panel, 'a'), {
    enable: true,
    traffic: { ...(await client(panel, 'a')).traffic, up: 0, down: 0 },
  });
  t.false((await client(panel, 'b')).enable, 'an admin disabled it');
  t.is((await client(panel, 'c')).traffic.down, 500);
  t.true(engine.inbounds.includes(reset.tag));
  t.true(engine.users.has(`i${daily}.c${a.id}`));

  engine.move(daily, a.id, 0, 700);
  await tick(11 * HOUR);
  t.is((await inbound(panel, daily)).down, 700, 'not again on the same day');
  t.is((await inbound(panel, daily)).lastTrafficResetTime, reset.lastTrafficResetTime);
});

test('a period that ended while no panel ran is reset once, after the next start', async (t) => {
  const first = await boot();
  t.teardown(() => rm(first.panel.dataDirectory, { recursive: true, force: true }));
  const id = await first.panel.addInbound({ trafficReset: 'monthly', trafficResetDay: 20 });
  const { id: clientId } = await first.panel.addClient('a', [id]);
  first.engine.move(id, clientId, 0, 4000);
  await first.tick();
  await first.panel.stop();

  // Two resets are due.
  const back = NOON + 40 * 24 * HOUR;
  const second = await boot({ dataDirectory: first.panel.dataDirectory, at: back });
  t.is((await inbound(second.panel, id)).down, 4000);
  await second.tick();
  t.like(await inbound(second.panel, id), { down: 0, lastTrafficResetTime: back + 5000 });
  second.engine.move(id, clientId, 0, 300);
  await second.tick(HOUR);
  t.is((await inbound(second.panel, id)).down, 300);
  await second.panel.stop();

  const third = await boot({ dataDirectory: first.panel.dataDirectory, at: back + 2 * HOUR });
  await third.tick();
  t.is((await inbound(third.panel, id)).down, 300);
  await third.panel.stop();
});

test('a new schedule starts when it is set, and a change of the zone makes no reset late', async (t) => {
  const { panel, engine, tick } = await boot();
  await using _ = panel;
  const id = await panel.addInbound();
  const { id: clientId } = await panel.addClient('a', [id]);
  engine.move(id, clientId, 0, 4000);
  await tick();
  await update(panel, id, { trafficReset: 'monthly', trafficResetDay: 10 });
  await tick(HOUR);
  t.is((await inbound(panel, id)).down, 4000, 'the tenth of this month is over');
  await update(panel, id, { trafficReset: 'daily' });
  await tick();
  t.is((await inbound(panel, id)).down, 4000);
  // 13:00 UTC is the next day in Auckland, and was when the schedule was set.
  await panel.get('/panel/api/setting/update', { body: { timeLocation: 'Pacific/Auckland' } });
  await tick();
  t.is((await inbound(panel, id)).down, 4000);
  await tick(22 * HOUR);
  t.is((await inbound(panel, id)).down, 0);
});

test('a reset that a plugin refuses changes nothing and is retried; a disabled inbound is reset too', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock(NOON);
  let refuses = true;
  const stubborn = definePlugin({
    name: 'stubborn',
    version: '0.0.0',
    api: 1,
    about: 'Refuses changes of clients.',
    taps: () => [
      tap(beforeClientSave, ({ changes }) => {
        if (refuses && changes.some(({ kind }) => kind === 'updated')) throw new Refusal('not now');
      }),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [engine.plugin, stubborn], clock });
  const poll = async (ms: number): Promise<void> => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  const id = await panel.addInbound({ trafficReset: 'hourly' });
  const { id: clientId } = await panel.addClient('a', [id]);
  engine.move(id, clientId, 0, 4000);
  await poll(5000);
  await panel.get(`${API}/setEnable/${id}`, { body: { enable: false } });
  await poll(HOUR);
  t.like(await inbound(panel, id), { down: 4000, lastTrafficResetTime: 0 });
  t.is((await client(panel, 'a')).traffic.down, 4000);
  refuses = false;
  await poll(5000);
  t.like(await inbound(panel, id), { enable: false, down: 0 });
  t.is((await client(panel, 'a')).traffic.down, 0);
});
