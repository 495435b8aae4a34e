// Each type of message with its shape, as programs of the field read them.
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { type LiveOutput, LiveTypes, OutboundSources } from '../contract.js';
import { Listener } from './listener.js';

async function boot(t: ExecutionContext, plugins: readonly Plugin[] = []) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin, ...plugins], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const settle = async (ms: number) => {
    clock.tick(ms);
    await panel.kernel.settled();
  };
  return { engine, clock, panel, settle, poll: () => settle(5000) };
}
interface Stats {
  readonly snapshot: boolean;
  readonly clients: { readonly email: string; readonly up: number; readonly down: number }[] | null;
  readonly inbounds: object[] | null;
}
interface Row {
  readonly IsInbound: boolean;
  readonly IsOutbound: boolean;
  readonly Tag: string;
  readonly Up: number;
  readonly Down: number;
}

test('client_stats: all at first, then those that moved, with what they used in all', async (t) => {
  const { engine, panel, poll } = await boot(t);
  const inboundId = await panel.addInbound();
  const idle = await panel.addInbound();
  const ann = await panel.addClient('ann', [inboundId]);
  await panel.addClient('ben', [inboundId, idle]);
  engine.move(inboundId, ann.id, 1, 2);
  await poll();
  const listener = Listener.plain(panel);
  const { payload } = await listener.first<{ client_stats: Stats }>('snapshot');
  const { client_stats: all } = payload;
  t.true(all.snapshot);
  t.deepEqual(
    all.clients?.map(({ email, up, down }) => [email, up, down]),
    [
      ['ann', 1, 2],
      ['ben', 0, 0],
    ],
  );
  t.deepEqual(all.inbounds, [
    { id: inboundId, up: 1, down: 2, total: 0, enable: true },
    { id: idle, up: 0, down: 0, total: 0, enable: true },
  ]);
  engine.move(inboundId, ann.id, 10, 20);
  await poll();
  const { payload: moved } = await listener.first<Stats>('client_stats');
  t.deepEqual(moved, {
    snapshot: false,
    clients: [await panel.get('/panel/api/clients/traffic/ann')] as never,
    inbounds: [{ id: inboundId, up: 11, down: 22, total: 0, enable: true }],
  });
  await poll();
  await until(() => listener.of('traffic').length === 2, 'the next poll');
  t.is(listener.of('client_stats').length, 1, 'nobody moved');
});

test('traffics: deltas of inbounds and of outbounds, with capitalised keys', async (t) => {
  const { engine, panel, poll } = await boot(t);
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('ann', [inboundId]);
  engine.moveOut('direct', 1000, 1000);
  await poll();
  const listener = Listener.plain(panel);
  await listener.first('snapshot');
  await poll();
  const rows = async (count: number) => {
    await until(() => listener.of('traffic').length === count, `poll ${count}`);
    return listener.of<{ traffics: Row[] }>('traffic').at(-1)?.payload.traffics;
  };
  t.deepEqual(await rows(1), [], 'what moved before is not told again');
  const ofOutbounds = (all: readonly Row[] | undefined) => all?.filter(({ IsOutbound }) => IsOutbound);
  let told = 0;
  for (let i = 2; i < 6; i++) {
    engine.move(inboundId, id, 3, 4);
    engine.moveOut('direct', 5, 6);
    await poll();
    const all = await rows(i);
    t.deepEqual(all?.[0], { ...all?.[0], IsInbound: true, IsOutbound: false, Up: 3, Down: 4 } as Row);
    for (const { Tag, Up } of ofOutbounds(all) ?? []) {
      t.is(Tag, 'direct');
      told += Up;
    }
  }
  await poll();
  told += ofOutbounds(await rows(6))?.[0]?.Up ?? 0;
  t.is(told, 20, 'each byte once, in this poll or the next');
});

test('a source of outbounds that fails is named, and the message comes without it', async (t) => {
  const bad = definePlugin({
    name: 'bad',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(OutboundSources, {
        take: () => {
          throw new Error('a bug');
        },
      }),
    ],
  });
  const { panel, poll } = await boot(t, [bad]);
  const listener = Listener.plain(panel);
  await listener.first('snapshot');
  await poll();
  t.deepEqual((await listener.first<{ traffics: Row[] }>('traffic')).payload.traffics, []);
  t.regex(panel.faults.join('\n'), /^bad, bytes of outbounds/m);
});

test('notification: a stop, a start and an alarm, each with title, message and level', async (t) => {
  const { engine, panel, settle } = await boot(t);
  const listener = Listener.plain(panel);
  await listener.first('snapshot');
  engine.enter('stop');
  engine.enter('running');
  await until(() => listener.of('notification').length === 2, 'both');
  await panel.get('/panel/api/setting/update', { body: { alarmDisk: 1, alarmMemory: 0, alarmCpu: 0 } });
  for (let i = 0; i < 3; i++) await settle(10_000);
  await until(() => listener.of('notification').length === 3, 'the alarm');
  const told = listener.of<{ title: string; message: string; level: string }>('notification');
  t.deepEqual(
    told.map(({ payload: { title, level } }) => [title, level]),
    [
      ['The core is stopped', 'warning'],
      ['The core is running', 'success'],
      ['Alarm: disk', 'warning'],
    ],
  );
  t.regex(told.at(-1)?.payload.message ?? '', /^a disk of the panel is \d+ % full/);
});

test('an inbound that reaches its limit, and a period that ends, make copies out of date', async (t) => {
  const { engine, clock, panel, poll, settle } = await boot(t);
  const inboundId = await panel.addInbound({ total: 100, trafficReset: 'hourly' });
  const { id } = await panel.addClient('ann', [inboundId]);
  await settle(1000);
  const listener = Listener.plain(panel);
  await listener.first('snapshot');
  const resources = () => [
    ...new Set(listener.of<{ type: string }>('invalidate').map(({ payload }) => payload.type)),
  ];
  engine.move(inboundId, id, 1000, 0);
  await poll();
  await settle(500);
  await until(() => resources().includes('inbounds'), 'the inbound at its limit');
  listener.messages.length = 0;
  clock.jump(3_600_000);
  await poll();
  await settle(500);
  await until(() => resources().includes('clients') && resources().includes('inbounds'), 'the new period');
  t.pass();
});

test('readers that come together share one snapshot, unless something was sent since', async (t) => {
  let composed = 0;
  let out: LiveOutput | undefined;
  const counting = definePlugin({
    name: 'counting',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(LiveTypes, { type: 'count', snapshot: () => ++composed, start: (given) => (out = given) }),
    ],
  });
  const { panel } = await boot(t, [counting]);
  const together = Array.from({ length: 50 }, () => Listener.plain(panel));
  await Promise.all(together.map((listener) => listener.first('snapshot')));
  t.true(composed < 10, `${composed} snapshots for 50 readers`);
  out?.send('news');
  await together[0]?.first('count');
  const before = composed;
  const late = Listener.plain(panel);
  const { payload, seq } = await late.first<{ count: number }>('snapshot');
  t.is(payload.count, before + 1);
  t.is(seq, (await together[0]?.first('count'))?.seq ?? -1);
});
