// Tags of the config and those of the running core.
import test from 'ava';
import type { RouteQuestion } from '../driver.js';
import { balancerTags } from '../config/routing-tags.js';
import { RunningRoutes } from '../apply/running-routes.js';

const QUESTION = { network: 'tcp', domain: 'a.example' } as unknown as RouteQuestion;
const pool = { tag: 'a@b', selector: ['x'] };
const TAG = balancerTags([pool]).get('a@b') ?? '';

function world(running: boolean, applied?: object) {
  const calls: unknown[] = [];
  const base = { routing: { balancers: [{ tag: TAG }] } };
  const routes = {
    route: async () => ({ outboundTag: 'weir.udp.direct', groupTags: [TAG] }),
    balancer: async (tag: string) =>
      tag.endsWith('@12345678') || tag === TAG ? { override: '', selected: [] } : undefined,
    override: async (...call: unknown[]) => void calls.push(call),
  };
  const supervisor = {
    parts: () => ({ applied: { base: applied }, plan: async () => ({ base }) }),
    watched: () => ({ process: running ? {} : undefined, state: { answers: running }, routes }),
  };
  return { calls, routes: new RunningRoutes({ supervisor: supervisor as never }) };
}

test('tags of the core become those of the config', async (t) => {
  const { routes, calls } = world(true);
  t.deepEqual(await routes.route(QUESTION), {
    matched: true,
    outboundTag: 'direct',
    isOwn: false,
    groupTags: ['a@b'],
  });
  t.deepEqual([...(await routes.balancers())], ['a@b']);
  t.true(await routes.override('a@b', 'x'));
  t.false(await routes.override('a', 'x'));
  t.deepEqual(calls, [[TAG, 'x']]);
  t.is(await routes.balancer('ghost'), undefined);
});

test('while a change waits for a restart, the balancers are those that run', async (t) => {
  const { routes, calls } = world(true, { routing: { balancers: [{ tag: 'a@b@12345678' }] } });
  t.true(await routes.override('a@b', 'x'));
  t.deepEqual(calls, [['a@b@12345678', 'x']]);
});

test('without a core nothing is asked', async (t) => {
  const { routes, calls } = world(false);
  t.is(await routes.route(QUESTION), undefined);
  t.is(await routes.balancer('a@b'), undefined);
  t.false(await routes.override('a@b', 'x'));
  t.deepEqual(calls, []);
});

test('an override reaches the balancer for packets too, with the outbound for packets of a freedom', async (t) => {
  const { routes, calls } = world(true, {
    outbounds: [{ tag: 'direct' }, { tag: 'weir.udp.direct' }, { tag: 'far' }],
    routing: { balancers: [{ tag: 'a@12345678' }, { tag: 'weir.udp.a@12345678' }] },
  });
  for (const target of ['direct', 'far', '']) t.true(await routes.override('a', target));
  t.deepEqual(calls, [
    ['a@12345678', 'direct'],
    ['weir.udp.a@12345678', 'weir.udp.direct'],
    ['a@12345678', 'far'],
    ['weir.udp.a@12345678', 'far'],
    ['a@12345678', ''],
    ['weir.udp.a@12345678', ''],
  ]);
});
