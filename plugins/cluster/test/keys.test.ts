// Runs on every database in test:full.
// A call with an Idempotency-Key is done once, whichever panels get it.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test;
const NOT_DONE = ['IDEMPOTENCY_UNDER_WAY', 'KERNEL_DATABASE_BUSY'];

onServer('a call that two panels get at once is done by one of them', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [
    await panels.start('a', { WEIR_PRESET: 'minimal' }),
    await panels.start('b', { WEIR_PRESET: 'minimal' }),
  ];
  for (let i = 0; i < 5; i++) {
    const call = {
      body: { name: `group${i}` },
      headers: { 'Idempotency-Key': `key-${i}` },
    };
    const replies = await Promise.all(
      [a, b, a, b].map((panel) => panel.call('/panel/api/clients/groups/create', call)),
    );
    const codes = replies.map(({ status, body }) => (status === 200 ? 'done' : body.code));
    t.true(codes.includes('done'), codes.join(' '));
    // Whoever is not the first does nothing: it does not even find the name taken.
    t.deepEqual(
      codes.filter((code) => !NOT_DONE.includes(code ?? '')),
      codes.filter((code) => code === 'done'),
    );
    const again = await b.call('/panel/api/clients/groups/create', call);
    t.is(again.status, 200);
    t.is(again.headers.get('idempotency-replayed'), 'true');
  }
  const groups = await panels.query<{ name: string }>('SELECT name FROM client_groups ORDER BY name');
  t.deepEqual(
    groups.map(({ name }) => name),
    ['group0', 'group1', 'group2', 'group3', 'group4'],
  );
});
