// Runs on every database in test:full.
// Panels that start at the same moment on an empty database: each stores what is missing, and one of them is first.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;

onServer('three panels that start at once on an empty database all run, with all plugins', async (t) => {
  t.timeout(240_000);
  await using panels = await Panels.open();
  const started = await Promise.all(['a', 'b', 'c'].map((name) => panels.start(name)));
  for (const panel of started) {
    const plugins =
      await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
    t.deepEqual(
      plugins.filter(({ state }) => state === 'failed'),
      [],
    );
    t.deepEqual(panel.faults, []);
  }
  // Each understands what another one has signed and sealed.
  const [a, b, c] = started;
  if (!a || !b || !c) return t.fail();
  for (const other of [b, c]) {
    other.cookie = a.cookie;
    await other.until(
      async () => (await other.call('/panel/api/inbounds/list')).status === 200,
      'the session of the first panel is known',
    );
  }
  const rows = await panels.query<{ n: number }>(
    'SELECT COUNT(*) AS n FROM kernel_migrations GROUP BY plugin, name HAVING COUNT(*) > 1',
  );
  t.deepEqual(rows, []);
});
