// The stream on a real core: bytes that really moved, a core that really dies.
import test from 'ava';
import { connect, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import { Listener } from './listener.js';

test('bytes through a core are told with the client, who is online then, and not when the core has died', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const inboundId = await panel.addInbound();
  await panel.addClient('ada', [inboundId]);
  await panel.addClient('idle', [inboundId]);
  const user = await connect(t, panel, 'ada', server);
  const listener = Listener.plain(panel);
  t.teardown(listener.close);
  await listener.first('snapshot');
  await user.download(MIB);
  interface Traffic {
    readonly clientTraffics: { email: string; down: number }[];
    readonly inboundTraffics: { id: number; down: number }[];
    readonly onlineClients: string[];
  }
  const sum = (down: (payload: Traffic) => number): number =>
    listener.of<Traffic>('traffic').reduce((all, { payload }) => all + down(payload), 0);
  const ofAda = (): number =>
    sum(({ clientTraffics }) => clientTraffics.find(({ email }) => email === 'ada')?.down ?? 0);
  await panel.until(() => ofAda() >= MIB, 'the download is told');
  t.true(ofAda() <= MIB * 1.02, `${ofAda()} bytes were told`);
  t.is(
    sum(({ inboundTraffics }) => inboundTraffics.find(({ id }) => id === inboundId)?.down ?? 0),
    ofAda(),
  );
  t.deepEqual(
    listener.of<Traffic>('traffic').find(({ payload }) => payload.clientTraffics.length > 0)?.payload
      .onlineClients,
    ['ada'],
  );
  const onlines = () => panel.get<string[]>('/panel/api/clients/onlines', { method: 'POST' });
  t.deepEqual(await onlines(), ['ada']);

  process.kill((await panel.corePid()) ?? 0, 'SIGKILL');
  await panel.until(
    () => listener.of<{ state: string }>('engine_state').some(({ payload }) => payload.state === 'error'),
    'the end of the core is told',
  );
  await panel.until(
    () => listener.of<{ state: string }>('engine_state').at(-1)?.payload.state === 'running',
    'the new core is told',
  );
  t.deepEqual(await onlines(), []);
});

test('a stop and a restart over the API are told as states and as notifications', async (t) => {
  const panel = await openPanel(t);
  await panel.addInbound();
  const listener = Listener.plain(panel);
  t.teardown(listener.close);
  await listener.first('snapshot');
  const states = () => listener.of<{ state: string }>('engine_state').map(({ payload }) => payload.state);
  const levels = () => listener.of<{ level: string }>('notification').map(({ payload }) => payload.level);
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  await panel.until(() => states().at(-1) === 'running' && levels().at(-1) === 'success', 'the restart');
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  await panel.until(() => states().at(-1) === 'stop' && levels().at(-1) === 'warning', 'the stop');
  t.is(levels().length, states().length);
});
