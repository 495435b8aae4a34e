// A call that names its outbound leaves by it, through a real core, and by no other way.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { type Clock, contribute, definePlugin, tap } from '../../../kernel/index.js';
import { engineBinary } from '../../../test/engine/user.js';
import { TestPanel, until } from '../../../test/harness/index.js';
import { systemClock } from '../../../timing/clock.js';
import { composeCoreConfig, Engine, type EngineApi } from '../../engine/contract.js';
import { Outgoing, type OutgoingAccess, type OutgoingFetch, OutgoingHosts } from '../../outgoing/contract.js';

/** A panel with a core, two outbounds and a plugin that calls. */
async function callingPanel(t: ExecutionContext, clock?: Clock) {
  // The far end shows by its address from which outbound a call comes.
  const callers: string[] = [];
  const server = createServer((request, response) => {
    callers.push(request.socket.remoteAddress ?? '');
    response.end('reached');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;

  const access: OutgoingAccess = { hosts: ['127.0.0.1'], limits: { wholeMs: 8_000 } };
  const world = {
    tags: ['far', 'other'],
    fetch: undefined as OutgoingFetch | undefined,
    engine: undefined as EngineApi | undefined,
  };
  const addresses: Readonly<Record<string, string>> = { far: '127.0.0.2', other: '127.0.0.3' };
  const plugin = definePlugin({
    name: 'caller',
    version: '1.0.0',
    api: 1,
    about: 'Calls.',
    uses: { outgoing: Outgoing, engine: Engine },
    contributes: () => [contribute(OutgoingHosts, access)],
    taps: () => [
      tap(composeCoreConfig, (add) => {
        for (const tag of world.tags)
          add({ outbound: { tag, protocol: 'freedom', sendThrough: addresses[tag] ?? '', settings: {} } });
      }),
    ],
    start: ({ outgoing, engine }) => {
      world.fetch = outgoing.for(access);
      world.engine = engine;
    },
  });
  const panel = await TestPanel.boot({
    plugins: [plugin],
    env: { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' },
    ...(clock && { clock }),
  });
  await until(() => world.engine?.status().state === 'running', 'the core runs');
  const call = async (outboundTag: string, more: object = {}): Promise<string> => {
    try {
      const reply = await world.fetch?.(`http://127.0.0.1:${port}/`, {
        outboundTag,
        allowPrivate: true,
        ...more,
      });
      return (await reply?.text()) ?? '';
    } catch (error) {
      return `failed: ${(error as Error).message}`;
    }
  };
  /** The rules of all ways, as the core has them. */
  const rulesOfWays = async () => {
    const { routing } = await panel.get<{
      routing: { rules: { inboundTag?: string[]; outboundTag?: string }[] };
    }>('/panel/api/server/getConfigJson');
    return routing.rules
      .filter(({ inboundTag }) => inboundTag?.[0]?.startsWith('panel-outbound-'))
      .map(({ outboundTag }) => outboundTag)
      .sort();
  };
  return { panel, world, callers, call, rulesOfWays };
}

test('calls of nodes leave by the outbounds that they name', async (t) => {
  const { panel: booted, world, callers, call, rulesOfWays } = await callingPanel(t);
  await using panel = booted;
  t.deepEqual(await Promise.all([call('far'), call('far'), call('other')]), [
    'reached',
    'reached',
    'reached',
  ]);
  t.deepEqual(callers.sort(), ['127.0.0.2', '127.0.0.2', '127.0.0.3']);
  // The guard holds for them too.
  t.regex(await call('far', { allowPrivate: false }), /^failed: .*WEIR_OUTGOING_ALLOW/);
  t.is(await call('missing'), 'failed: there is no outbound "missing"');

  // An outbound that is removed takes its calls with it.
  world.tags = ['other'];
  await world.engine?.reconcileConfig();
  t.regex(await call('far'), /^failed: /);
  t.is(await call('other'), 'reached');
  t.is(callers.length, 4);
  // The core finds no outbound for the one, and after it there is only this.
  t.deepEqual(await rulesOfWays(), ['blocked', 'blocked', 'far', 'other']);
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.regex(
    await call('other'),
    /^failed: the core does not run, so nothing can leave by the outbound "other"/,
  );
  t.is(callers.length, 4);
  t.deepEqual(panel.faults, []);
});

test('a way that no call has used for half an hour is removed', async (t) => {
  let passed = 0;
  const pass = (minutes: number) => void (passed += minutes * 60_000);
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + passed };
  const { panel: booted, call, rulesOfWays } = await callingPanel(t, clock);
  await using panel = booted;
  const sweep = () => panel.get('/panel/api/system/jobs/panel-outbound/idle-ways', { method: 'POST' });
  t.deepEqual(await Promise.all([call('far'), call('other')]), ['reached', 'reached']);
  pass(20);
  t.is(await call('far'), 'reached');
  pass(20);
  await sweep();
  t.deepEqual(await rulesOfWays(), ['blocked', 'far']);
  t.is(await call('far'), 'reached');
  pass(40);
  await sweep();
  t.deepEqual(await rulesOfWays(), []);
  t.is(await call('other'), 'reached');
});
