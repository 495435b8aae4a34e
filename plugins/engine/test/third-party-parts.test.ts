// What third-party plugins add to the core's config, and the core rejects or another plugin's name forbids.
import test from 'ava';
import type { CorePart } from '../contract.js';
import { findCulprits } from '../config/culprits.js';
import { World } from './world.js';

const outbound = (tag: string): CorePart => ({ outbound: { tag, protocol: 'freedom' } });
const rule = (outboundTag: string): CorePart => ({ rule: { type: 'field', outboundTag } });
const inbound = (id: number, tag: string): CorePart => ({
  inbound: { id, tag, protocol: 'vless', config: { tag, protocol: 'vless', port: 7000 + id } },
});
const outboundsOf = (world: World): string[] =>
  ((world.driver.core?.base['outbounds'] ?? []) as { tag: string }[]).map(({ tag }) => tag);
const tests = (world: World): number => world.driver.news().filter((call) => call === 'test').length;

test('at a start the core runs without what a plugin adds that it refuses, and the plugin is named', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.addThirdParty('good', outbound('good-1'));
  world.addThirdParty('weed', outbound('weed-1'), rule('weed-1'));
  world.addThirdParty('other', outbound('other-1'));
  world.driver.refusesOutboundsLike = 'weed';
  await world.open();
  t.is(world.state, 'running');
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1', 'other-1']);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  t.deepEqual([...world.leftOut.keys()], ['weed']);
  t.regex(world.leftOut.get('weed') ?? '', /runs without that: outbound weed-1: unknown config id$/);
  t.is(world.said('the core rejected what a plugin adds to its config'), 1);
  t.true(tests(world) <= 6);

  // It stays out, unasked, until it changes.
  t.false((await world.supervisor.reconcileConfig()).pending);
  await world.supervisor.retryPending();
  t.is(tests(world), 0);
  world.driver.refusesOutboundsLike = 'nothing';
  world.addThirdParty('weed', outbound('weed-2'));
  await world.supervisor.reconcileConfig();
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1', 'weed-2', 'other-1']);
  t.deepEqual([...world.leftOut.keys()], []);
});

test('a config that is too much for the core is that of the plugin without which it is not', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.addThirdParty('good', outbound('good-1'));
  world.addThirdParty('weed', outbound('slow-weed'));
  world.driver.refusesOutboundsLike = 'slow';
  await world.open();
  t.is(world.state, 'running');
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1']);
  t.regex(world.leftOut.get('weed') ?? '', /no result within 20 s$/);
});

test('a change that the core refuses is taken from its plugin, and the running core is left as it is', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.addThirdParty('weed');
  await world.open();
  const pid = world.driver.core?.process.pid;
  world.driver.refusesOutboundsLike = 'weed';
  world.addThirdParty('weed', outbound('weed-1'));
  world.inbound(2);
  t.deepEqual(await world.supervisor.reconcileConfig(), { pending: false, reason: '' });
  t.is(world.driver.core?.process.pid, pid);
  t.deepEqual(world.driver.names('in-2'), []);
  t.deepEqual([...world.leftOut.keys()], ['weed']);
  t.is(world.supervisor.status().errorMsg, '');
});

test('an admin can save inbounds and restart the core whatever a plugin adds', async (t) => {
  const world = new World();
  world.addThirdParty('weed');
  await world.open();
  world.driver.refusesOutboundsLike = 'weed';
  world.addThirdParty('weed', outbound('weed-1'));
  const wanted = { tag: 'in-3', protocol: 'vless', config: { tag: 'in-3', protocol: 'vless' } };
  await t.notThrowsAsync(world.supervisor.examine(wanted));
  await t.notThrowsAsync(world.supervisor.restart('for a test'));
  t.deepEqual([...world.leftOut.keys()], ['weed']);
  // Where it is the inbound, that is said.
  world.driver.refuses.set('in-3', 'no such cipher');
  await t.throwsAsync(world.supervisor.examine(wanted), { message: 'no such cipher' });
});

test('a problem with the panel\u2019s own parts is attributed to no plugin', async (t) => {
  const world = new World();
  world.inbound(1);
  world.inbound(2, { 1: 'a' });
  world.addThirdParty('good', outbound('good-1'));
  world.driver.refuses.set('in-1', 'no certificate');
  await world.open();
  t.is(world.supervisor.status().errorMsg, 'in-1: no certificate');
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1']);
  t.is(world.leftOut.size, 0);
});

test('where the core refuses an inbound and a plugin, the other plugins stay in', async (t) => {
  const world = new World();
  world.inbound(1);
  world.inbound(2, { 1: 'a' });
  world.addThirdParty('good', outbound('good-1'));
  world.addThirdParty('weed', outbound('weed-1'));
  world.driver.refuses.set('in-1', 'no certificate');
  world.driver.refusesOutboundsLike = 'weed';
  await world.open();
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1']);
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.is(world.supervisor.status().errorMsg, 'in-1: no certificate');
  t.deepEqual([...world.leftOut.keys()], ['weed']);
});

test('a core that tests a config well and does not start with it starts without third-party plugins', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.addThirdParty('weed', outbound('hidden'));
  await world.open();
  t.is(world.state, 'running');
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  t.regex(world.leftOut.get('weed') ?? '', /failed to listen/);
});

test('a core that cannot be asked says nothing against a plugin', async (t) => {
  const world = new World();
  world.addThirdParty('good', outbound('good-1'));
  await world.open();
  const { driver } = world;
  const ask = driver.test.bind(driver);
  driver.test = async (...given) => {
    driver.test = ask;
    await ask(...given);
    throw new Error('no space left');
  };
  await t.throwsAsync(world.supervisor.restart('for a test'), { message: 'no space left' });
  t.is(world.leftOut.size, 0);
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'good-1']);
});

test('who comes second with a tag loses; what is built in is never second', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.addThirdParty('thief', inbound(9, 'in-1'), inbound(1, 'thief-1'), inbound(8, 'thief-2'));
  world.addThirdParty('router', outbound('direct'), rule('direct'), outbound('mine'), rule('mine'));
  world.addThirdParty('second', outbound('mine'), rule('mine'), outbound('weir.api'), rule('blocked'));
  await world.open();
  t.is(world.driver.core?.inbounds.get('in-1')?.config['port'], 1001, 'the panel\u2019s own inbound');
  t.deepEqual([...(world.driver.core?.inbounds.keys() ?? [])].sort(), ['in-1', 'thief-2']);
  t.deepEqual(outboundsOf(world), ['direct', 'blocked', 'mine']);
  const routing = world.driver.core?.base['routing'] as { rules: { outboundTag: string }[] };
  t.deepEqual(
    routing.rules.map(({ outboundTag }) => outboundTag),
    ['mine', 'blocked', 'direct'],
    'a rule for an outbound that is left out does not lead into another one of that tag',
  );
  t.regex(
    world.leftOut.get('thief') ?? '',
    /in-1 is left out: test has .*; its inbound thief-1 .*: test has .* id 1/,
  );
  t.regex(world.leftOut.get('router') ?? '', /outbound direct is left out: engine has/);
  t.regex(
    world.leftOut.get('second') ?? '',
    /mine is left out: router has .*weir\.api is left out: engine has/,
  );
  world.addThirdParty('thief', inbound(8, 'thief-2'));
  await world.supervisor.reconcileConfig();
  t.false(world.leftOut.has('thief'));
});

test('an inbound of a plugin that the running core does not take is named with its plugin', async (t) => {
  const world = new World();
  world.addThirdParty('weed');
  await world.open();
  world.driver.refuses.set('weed-1', 'address already in use');
  world.addThirdParty('weed', inbound(9, 'weed-1'));
  t.true((await world.supervisor.reconcileConfig()).pending);
  t.regex(world.leftOut.get('weed') ?? '', /its inbound weed-1: address already in use/);
  world.driver.refuses.clear();
  await world.supervisor.retryPending();
  t.is(world.leftOut.size, 0);
});

test('culprits are found with few test-runs, and never with more than forty', async (t) => {
  const names = Array.from({ length: 64 }, (_, i) => `p${i}`);
  const run = async (bad: readonly string[]) => {
    let count = 0;
    const culprits = await findCulprits(names, 'no', async (kept) => {
      count++;
      return kept.some((name) => bad.includes(name)) ? 'no' : undefined;
    });
    return { count, culprits: [...(culprits?.keys() ?? [])] };
  };
  const one = await run(['p17']);
  t.deepEqual(one.culprits, ['p17']);
  t.true(one.count <= 14, `${one.count} test-runs`);
  t.deepEqual((await run(['p3', 'p60'])).culprits, ['p3', 'p60']);
  const all = await run(names);
  t.deepEqual(all.culprits, names);
  t.true(all.count <= 41, `${all.count} test-runs`);
  t.is(await findCulprits(names, 'no', async () => 'always'), undefined);
  const together = async (kept: readonly string[]) =>
    kept.includes('p1') && kept.includes('p40') ? 'two of one name' : undefined;
  t.deepEqual(
    [...((await findCulprits(names, 'no', together)) ?? [])],
    [['p40', 'two of one name']],
    'each is right by itself',
  );
});
