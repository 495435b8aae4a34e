// Runs on every database in test:full.
// The settings in memory are those of the database, whatever happened on the way.
import test from 'ava';
import {
  type Database,
  definePlugin,
  int,
  list,
  type Principal,
  setting,
  text,
} from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import settings from '../index.js';
import type { SettingsStore } from '../store.js';
import type { SettingsValues } from '../values.js';
import { random as seeded } from '../../../test/harness/random.js';

const WHO: Principal = { kind: 'command', name: 'test' };
const mill = definePlugin({
  name: 'a-mill',
  version: '1.0.0',
  api: 1,
  about: 'For a test.',
  settings: {
    'a-mill.key': setting(text(), '', 'opens it', { secret: true }),
    'a-mill.made': setting(text(), () => String(Math.random()), 'generated'),
    'a-mill.names': setting(list(text()), [], 'who works there'),
    'a-mill.stones': setting(int(), 2, 'how many'),
  },
});

async function boot(dataDirectory?: string) {
  const observed = servicesOf<{ db: Database; store: SettingsStore; values: SettingsValues }>(settings);
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, observed.plugin],
    outside: [mill],
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const { db, store, values } = observed.services;
  const { projection } = values;
  const inMemory = () => ({ ...projection.state, groups: [...projection.state.groups.values()] });
  const inDatabase = async () => {
    const fresh = await projection.fresh();
    return { ...fresh, groups: [...fresh.groups.values()] };
  };
  return { panel, db, store, projection, inMemory, inDatabase };
}

test('after a first start, two thousand random changes and a reload, memory is what the database holds', async (t) => {
  const { panel, db, store, projection, inMemory, inDatabase } = await boot();
  await using _ = panel;
  t.is(projection.state.unwritten.size, 0, 'what was generated is written');
  t.deepEqual(inMemory(), await inDatabase());
  const { below: random } = seeded(3);
  const some = [
    () => ({ 'a-mill.stones': random(1000) }),
    () => ({ 'a-mill.names': Array.from({ length: random(4) }, () => `ä"${random(99)}`) }),
    () => ({ 'a-mill.key': random(3) === 0 ? '' : `k${random(99)}`, pageSize: random(1000) }),
    () => ({ 'a-mill.made': `m${random(99)}`, datepicker: random(2) === 0 ? 'gregorian' : 'jalalian' }),
  ];
  let rolledBack = 0;
  for (let round = 0; round < 80; round++)
    await Promise.all(
      Array.from({ length: 25 }, () =>
        db
          .write(async (tx) => {
            await store.save(tx, some[random(some.length)]?.() ?? {}, WHO);
            if (random(10) === 0) throw new Error('changed my mind');
          })
          .catch(() => rolledBack++),
      ),
    );
  t.true(rolledBack > 100);
  t.deepEqual(inMemory(), await inDatabase());
  const before = inMemory();
  await projection.load();
  t.deepEqual(inMemory(), before);
});

test('what is generated is the same however often it is loaded, and after a restart', async (t) => {
  const first = await boot();
  const { dataDirectory } = first.panel;
  const made = first.store.known('a-mill.made')?.value;
  await first.projection.load();
  t.is(first.store.known('a-mill.made')?.value, made);
  await first.panel.stop();
  const second = await boot(dataDirectory);
  await using _ = second.panel;
  t.is(second.store.known('a-mill.made')?.value, made);
  t.deepEqual(second.inMemory(), await second.inDatabase());
});

test('what an admin saves over a generated value is no longer generated', async (t) => {
  const { panel, db, store } = await boot();
  await using _ = panel;
  const isGenerated = async (): Promise<boolean[]> =>
    (await db.query<{ generated: unknown }>("SELECT generated FROM settings WHERE name = 'a-mill.made'")).map(
      ({ generated }) => Boolean(generated),
    );
  t.deepEqual(await isGenerated(), [true]);
  await db.write((tx) => store.save(tx, { 'a-mill.made': 'mine' }, WHO));
  t.deepEqual(await isGenerated(), [false]);
});
