// Runs on every database in test:full.
// Guesses at a password are counted by all panels together.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;
const SMALL = { WEIR_PRESET: 'minimal' };
/** failures of one address with one name that block it */
const MOST = 5;

const guess = (panel: PanelProcess, username: string): Promise<number> =>
  panel
    .call('/login', { body: { username, password: 'wrong wrong' }, anonymous: true })
    .then(({ status }) => status);

onServer('guesses in turn at two panels are blocked after as many as at one', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  const answers: number[] = [];
  for (let i = 0; i < 2 * MOST; i++) answers.push(await guess(i % 2 === 0 ? a : b, 'turns'));
  t.deepEqual(answers, [...Array<number>(MOST).fill(401), ...Array<number>(MOST).fill(429)]);
  // Another name is still tried.
  t.is(await guess(b, 'other'), 401);
  const writes = async () =>
    Number((await panels.query<{ last: number }>('SELECT last FROM cluster_state'))[0]?.last);
  const before = await writes();
  await guess(a, 'turns');
  t.is(await writes(), before, 'what is blocked costs no write');
  t.deepEqual([...a.faults, ...b.faults], []);
});

onServer('guesses at both panels at once are hardly more than at one', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  const signs = () => panels.query<{ at: number }>('SELECT seen_at AS at FROM cluster_panels');
  const first = Math.max(...(await signs()).map(({ at }) => Number(at)));
  await b.until(
    async () => (await signs()).every(({ at }) => Number(at) > first),
    'each has seen the other one since both live',
  );
  const checked: number[] = [];
  // Until both are blocked.
  for (let round = 0; round < 4; round++)
    checked.push(
      ...(await Promise.all(Array.from({ length: 16 }, (_, i) => guess(i % 2 === 0 ? a : b, 'burst')))),
    );
  const wrong = checked.filter((status) => status === 401).length;
  t.true(wrong >= MOST && wrong <= MOST + 1, `${wrong} guesses were checked`);
  t.deepEqual([await guess(a, 'burst'), await guess(b, 'burst')], [429, 429]);
});

onServer('a login that succeeds forgives the failures in the other panel too', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < MOST - 1; i++) t.is(await guess(i % 2 === 0 ? a : b, 'admin'), 401);
    await a.login();
  }
  await b.login();
  t.truthy(b.cookie);
});
