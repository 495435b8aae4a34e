// Three panels below each other, and panels that have each other as nodes.
import test from 'ava';
import { treeBelow } from '../status/descendants.js';
import { until } from '../../../test/harness/index.js';
import {
  add,
  boot,
  type Booted,
  guidOf,
  list,
  local,
  only,
  placeOf,
  server,
  STATUS,
  statusOf,
} from './world.js';

const beats = async (...panels: readonly Booted[]): Promise<void> => {
  for (const { clock } of panels) clock.tick(5_000);
};

test('a central sees the nodes below its nodes, to any depth, and only reads them', async (t) => {
  const [top, middle, low, leaf] = await Promise.all([boot(t), boot(t), boot(t), boot(t)]);
  await add(low.panel, await placeOf(leaf.panel, { name: 'leaf' }));
  await add(middle.panel, await placeOf(low.panel, { name: 'low' }));
  await add(top.panel, await placeOf(middle.panel, { name: 'middle' }));
  await until(async () => {
    await beats(low, middle, top);
    return (await list(top.panel)).length === 3;
  }, 'all are known at the top');
  const [direct, ...below] = await list(top.panel);
  t.like(direct, { name: 'middle', transitive: false, parentGuid: await guidOf(top.panel) });
  t.deepEqual(
    below.map(({ id, name, transitive, parentGuid, status }) => ({
      id,
      name,
      transitive,
      parentGuid,
      status,
    })),
    [
      { id: 0, name: 'low', transitive: true, parentGuid: await guidOf(middle.panel), status: 'online' },
      { id: 0, name: 'leaf', transitive: true, parentGuid: await guidOf(low.panel), status: 'online' },
    ],
  );
  // A node that is offline or disabled hides what is below it.
  await top.panel.get(`/panel/api/nodes/setEnable/${direct?.id}`, { body: { enable: false } });
  t.is((await list(top.panel)).length, 1);
});

test('two panels that have each other as nodes are a loop, which is told and does not grow', async (t) => {
  const [one, two] = await Promise.all([boot(t), boot(t)]);
  await add(one.panel, await placeOf(two.panel, { name: 'two' }));
  await add(two.panel, await placeOf(one.panel, { name: 'one' }));
  // The test's clock runs ahead of the header Date, which may be told as well.
  const problems = async () =>
    (await only(one.panel)).problems.map(({ code }) => code).filter((code) => code !== 'clock');
  await until(async () => {
    await beats(one, two);
    return (await problems()).length > 0;
  }, 'the loop is told');
  t.deepEqual(await problems(), ['loop']);
  for (let i = 0; i < 8; i++) await beats(one, two);
  t.is((await list(one.panel)).length, 1);
  t.is((await one.panel.get<unknown[]>('/panel/api/server/descendants')).length, 1);
});

test('loops, repetitions, strays and what cannot be read are left out of a tree', (t) => {
  const entry = (guid: string, parentGuid: string) => ({ guid, parentGuid, name: guid, port: 1 });
  const below = treeBelow('root', [
    entry('c', 'b'),
    entry('b', 'root'),
    entry('b', 'c'),
    entry('root', 'c'),
    entry('stray', 'nobody'),
    { ...entry('d', 'c'), port: -1, status: 'fine', latencyMs: 1e300, scheme: 5 },
    null,
  ]);
  t.deepEqual(
    below.map(({ guid, parentGuid }) => [guid, parentGuid]),
    [
      ['b', 'root'],
      ['c', 'b'],
      ['d', 'c'],
    ],
  );
  t.like(below[2], { port: 443, status: 'unknown', latencyMs: 0, scheme: 'https' });
});

test('what a node says of nodes below it is cut to a tree', async (t) => {
  const { panel } = await boot(t);
  const root = STATUS.panelGuid;
  const entry = (guid: string, parentGuid: string) => ({
    guid,
    parentGuid,
    name: guid,
    address: 'x',
    scheme: 'https',
    port: 1,
  });
  const far = await server(
    t,
    statusOf(STATUS, [
      entry('c', 'b'),
      entry('b', root),
      entry('b', 'c'),
      entry(root, 'c'),
      entry('stray', 'nobody'),
      entry(await guidOf(panel), 'b'),
      { guid: 5 },
      null,
      'text',
      ...Array.from({ length: 5_000 }, (_, i) => entry(`many-${i}`, root)),
    ]),
  );
  await add(panel, local(far.port, 'token', { name: 'far' }));
  const shown = await list(panel);
  t.is(shown.filter(({ name }) => name === 'b' || name === 'c').length, 2);
  t.false(shown.some(({ name }) => name === 'stray'));
  t.true(shown.length <= 2_001, `${shown.length} entries`);
  t.deepEqual(
    shown[0]?.problems.map(({ code }) => code),
    ['loop'],
  );
});
