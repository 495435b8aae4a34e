import test, { type ExecutionContext } from 'ava';
import { definePlugin, contribute, type Plugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';
import { type LiveOutput, LiveTypes } from '../contract.js';
import { Listener } from './listener.js';

const ENDPOINTS = [
  ['plain', Listener.plain],
  ['socket.io', Listener.io],
] as const;

async function boot(t: ExecutionContext, plugins: readonly Plugin[] = []) {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [engine.plugin, ...plugins], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { engine, clock, panel };
}

interface TrafficPayload {
  readonly at: number;
  readonly clientTraffics: { id: number; email: string; up: number; down: number }[];
  readonly inboundTraffics: { id: number; tag: string; up: number; down: number }[];
  readonly onlineCount: number;
  readonly onlineClients: string[];
  readonly onlineByGuid: Record<string, string[]>;
  readonly activeInbounds: Record<string, string[]>;
  readonly lastOnlineMap: Record<string, number>;
}

for (const [endpoint, listen] of ENDPOINTS) {
  test(`${endpoint}: a snapshot first, then the status every two seconds`, async (t) => {
    const { clock, panel } = await boot(t);
    const listener = listen(panel);
    const snapshot = await listener.first<{
      status: { mem: { total: number } };
      engine_state: unknown;
      traffic: unknown;
    }>('snapshot');
    t.is(listener.messages[0]?.type, 'snapshot');
    t.true(snapshot.payload.status.mem.total > 0);
    t.deepEqual(snapshot.payload.engine_state, { state: 'running', errorMsg: '' });
    const { panelGuid } = await panel.get<{ panelGuid: string }>('/panel/api/server/status');
    t.deepEqual(snapshot.payload.traffic, {
      onlineCount: 0,
      onlineClients: [],
      onlineByGuid: { [panelGuid]: [] },
      activeInbounds: { [panelGuid]: [] },
    });
    t.is(snapshot.time, clock.now());
    clock.tick(2000);
    const status = await listener.first('status');
    t.deepEqual(
      Object.keys(status.payload).sort(),
      Object.keys(await panel.get<object>('/panel/api/server/status')).sort(),
    );
    t.is(status.seq, snapshot.seq + 1);
  });

  test(`${endpoint}: what moved in a poll, and who is online`, async (t) => {
    const { engine, clock, panel } = await boot(t);
    const first = await panel.addInbound();
    const second = await panel.addInbound();
    const ada = await panel.addClient('ada', [first, second]);
    await panel.addClient('idle', [first]);
    const listener = listen(panel);
    await listener.first('snapshot');
    engine.move(first, ada.id, 10, 20);
    engine.move(second, ada.id, 1, 2);
    clock.tick(5000);
    const { payload } = await listener.first<TrafficPayload>('traffic');
    const tags = new Map(
      (await panel.get<{ id: number; tag: string }[]>('/panel/api/inbounds/list')).map(({ id, tag }) => [
        id,
        tag,
      ]),
    );
    const { panelGuid } = await panel.get<{ panelGuid: string }>('/panel/api/server/status');
    t.deepEqual(payload, {
      at: clock.now(),
      traffics: [
        { IsInbound: true, IsOutbound: false, Tag: tags.get(first) ?? '', Up: 10, Down: 20 },
        { IsInbound: true, IsOutbound: false, Tag: tags.get(second) ?? '', Up: 1, Down: 2 },
      ],
      clientTraffics: [{ id: ada.id, email: 'ada', up: 11, down: 22 }],
      lastOnlineMap: { ada: clock.now() },
      inboundTraffics: [
        { id: first, tag: tags.get(first) ?? '', up: 10, down: 20 },
        { id: second, tag: tags.get(second) ?? '', up: 1, down: 2 },
      ],
      onlineCount: 1,
      onlineClients: ['ada'],
      onlineByGuid: { [panelGuid]: ['ada'] },
      activeInbounds: { [panelGuid]: [tags.get(first) ?? '', tags.get(second) ?? ''] },
    });

    // A poll in which nobody moved is told too; 20 seconds later nobody is online.
    const poll = async (count: number): Promise<TrafficPayload | undefined> => {
      clock.tick(5000);
      await until(() => listener.of('traffic').length === count, `message ${count} of a poll`);
      return listener.of<TrafficPayload>('traffic').at(-1)?.payload;
    };
    t.like(await poll(2), { clientTraffics: [], onlineClients: ['ada'] });
    engine.move(first, ada.id, 5, 0);
    t.like(await poll(3), {
      clientTraffics: [{ id: ada.id, email: 'ada', up: 5, down: 0 }],
      onlineClients: ['ada'],
    });
    for (const count of [4, 5, 6]) t.like(await poll(count), { onlineCount: 1 });
    t.like(await poll(7), { onlineCount: 0, onlineClients: [], activeInbounds: { [panelGuid]: [] } });
    const seqs = listener.messages.map(({ seq }) => seq);
    t.deepEqual(
      seqs,
      seqs.map((_, i) => (seqs[0] ?? 0) + i),
      'no gap',
    );
  });

  test(`${endpoint}: changes of clients, inbounds and settings, each told once however many there were`, async (t) => {
    const { clock, panel } = await boot(t);
    const listener = listen(panel);
    await listener.first('snapshot');
    const inboundId = await panel.addInbound();
    for (const email of ['a', 'b', 'c']) await panel.addClient(email, [inboundId]);
    await panel.get('/panel/api/setting/update', { body: { subTitle: 'another' } });
    t.deepEqual(listener.of('invalidate'), []);
    clock.tick(250);
    await until(() => listener.of('invalidate').length >= 3, 'three messages');
    t.deepEqual(
      listener
        .of<{ type: string }>('invalidate')
        .map(({ payload }) => payload.type)
        .sort(),
      ['clients', 'inbounds', 'settings'],
    );
    await panel.get('/panel/api/clients/del/b', { method: 'POST' });
    clock.tick(500);
    await until(() => listener.of('invalidate').length >= 4, 'the fourth');
    t.deepEqual(listener.of('invalidate').at(-1)?.payload, { type: 'clients' });
    t.is(listener.of('invalidate').length, 4);
  });

  test(`${endpoint}: the state of the core; without one nobody is online`, async (t) => {
    const { engine, clock, panel } = await boot(t);
    const inboundId = await panel.addInbound();
    const { id } = await panel.addClient('ada', [inboundId]);
    engine.move(inboundId, id, 1, 1);
    const listener = listen(panel);
    await listener.first('snapshot');
    clock.tick(5000);
    t.is((await listener.first<TrafficPayload>('traffic')).payload.onlineCount, 1);
    engine.enter('stop');
    t.deepEqual((await listener.first('engine_state')).payload, { state: 'stop', errorMsg: '' });
    const late = listen(panel);
    t.like((await late.first<{ engine_state: unknown; traffic: unknown }>('snapshot')).payload, {
      engine_state: { state: 'stop' },
      traffic: { onlineCount: 0 },
    });
    engine.enter('running');
    await until(() => listener.of('engine_state').length === 2, 'the second message');
    t.is(
      (await panel.get<string[]>('/panel/api/clients/onlines', { method: 'POST' })).length,
      0,
      'a new core begins with nobody',
    );
  });

  test(`${endpoint}: another plugin adds a type of its own`, async (t) => {
    let out: LiveOutput | undefined;
    const added = definePlugin({
      name: 'added',
      version: '0.0.0',
      api: 1,
      about: 'Adds a type of message.',
      contributes: () => [
        contribute(LiveTypes, {
          type: 'weather',
          snapshot: () => ({ sun: true }),
          start: (given) => (out = given),
        }),
        contribute(LiveTypes, { type: 'broken', snapshot: () => Promise.reject(new Error('a bug')) }),
        contribute(LiveTypes, { type: 'endless', snapshot: () => ({ number: 1n }) }),
      ],
    });
    const { clock, panel } = await boot(t, [added]);
    t.notThrows(() => out?.send(() => t.fail('nobody listens')));
    const listener = listen(panel);
    const snapshot = await listener.first('snapshot');
    t.deepEqual(
      Object.keys(snapshot.payload).sort(),
      [
        'client_jobs',
        'client_stats',
        'engine_install',
        'engine_state',
        'nodes',
        'outbounds',
        'status',
        'traffic',
        'weather',
      ],
      'what one plugin cannot tell is left out',
    );
    t.deepEqual(snapshot.payload['weather'], { sun: true });
    out?.send({ sun: false });
    out?.send(() => ({ text: 'π "quoted" \u2028' }));
    await until(() => listener.of('weather').length === 2, 'both messages');
    t.deepEqual(
      listener.of('weather').map(({ payload }) => payload),
      [{ sun: false }, { text: 'π "quoted" \u2028' }],
    );
    out?.invalidate('forecasts');
    clock.tick(250);
    t.deepEqual((await listener.first('invalidate')).payload, { type: 'forecasts' });
    out?.send('x'.repeat(5 * 2 ** 20));
    await until(() => listener.of('invalidate').length === 2, 'what stands for a message that is too long');
    t.deepEqual(listener.of('invalidate').at(-1)?.payload, { type: 'weather' });
  });
}

test('a type that is taken is refused at the start, with both names', async (t) => {
  const added = definePlugin({
    name: 'added',
    version: '0.0.0',
    api: 1,
    about: 'Adds a type of message.',
    contributes: () => [contribute(LiveTypes, { type: 'status' })],
  });
  await t.throwsAsync(TestPanel.boot({ plugins: [new FakeEngine().plugin, added] }), {
    message:
      /^plugin added cannot add to realtime\/LiveTypes: live messages of the type "status" exist already, in plugin realtime; choose another name$/,
  });
});

test('what is told while a newcomer waits for its snapshot comes after it, and nothing is missing', async (t) => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let asked = false;
  let out: LiveOutput | undefined;
  const slow = definePlugin({
    name: 'slow',
    version: '0.0.0',
    api: 1,
    about: 'Takes its time.',
    contributes: () => [
      contribute(LiveTypes, {
        type: 'slow',
        start: (given) => (out = given),
        snapshot: async () => {
          asked = true;
          await opened;
          return 'at last';
        },
      }),
    ],
  });
  const { panel } = await boot(t, [slow]);
  const listener = Listener.plain(panel);
  await until(() => asked, 'the newcomer is seen');
  for (const number of [1, 2, 3]) out?.send(number);
  t.deepEqual(listener.messages, []);
  open();
  await until(() => listener.of('slow').length === 3, 'all three');
  t.deepEqual(
    listener.messages.map(({ type, payload, seq }) =>
      type === 'snapshot' ? `${type} ${seq}` : `${type} ${String(payload)} ${seq}`,
    ),
    ['snapshot 0', 'slow 1 1', 'slow 2 2', 'slow 3 3'],
  );
});
