// Runs on every database in test:full.
// Panels that are restarted one after another: callers notice nothing, and the lead is handed over at once.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { Balancer } from './balancer.js';
import { Load } from './load.js';
import { leads, Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;
/** Fewer plugins start faster. */
const SMALL = { WEIR_PRESET: 'minimal' };
const TAKES_OVER_MS = 1_000;

const at = (panel: PanelProcess, message: string): number =>
  Date.parse(String(panel.said(message)?.['time'] ?? ''));

test.serial('readyz says when a panel starts and stops, under every host and without a login', async (t) => {
  const panel = await PanelProcess.start({
    env: { ...SMALL, WEIR_DRAIN: '2', WEIR_ALLOWED_HOSTS: 'panel.example' },
  });
  t.teardown(() => panel.dispose());
  t.is(await Balancer.statusOf(panel), 200);
  const stopped = panel.kill('SIGTERM');
  await panel.until(async () => (await Balancer.statusOf(panel)) === 503, 'it sends callers elsewhere');
  // It still answers, and closes the connection.
  const answer = await fetch(`${panel.url}/healthz`);
  t.is(answer.status, 200);
  t.is(answer.headers.get('connection'), 'close');
  const refused = await panel.call('/readyz', { anonymous: true });
  t.like(refused.body, { code: 'CLUSTER_NOT_READY', msg: 'this panel takes no callers now: it stops soon' });
  t.deepEqual(await stopped, { code: 0, signal: null });
});

test.serial('a second signal ends the wait', async (t) => {
  const panel = await PanelProcess.start({ env: { ...SMALL, WEIR_DRAIN: '600' } });
  t.teardown(() => panel.dispose());
  panel.signal('SIGTERM');
  await panel.until(async () => (await Balancer.statusOf(panel)) === 503, 'it sends callers elsewhere');
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});

test.serial('a panel alone stops at once', async (t) => {
  const panel = await PanelProcess.start({ env: SMALL });
  t.teardown(() => panel.dispose());
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.is(panel.said('this panel takes no new callers, and stops soon'), undefined);
});

onServer('a panel that died long ago is nobody to go to, and one that lives is', async (t) => {
  await using panels = await Panels.open();
  const a = await panels.start('a', SMALL);
  const NOW = 'ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)';
  await panels.query(
    `INSERT INTO cluster_panels (name, holder, version, seen_at) VALUES ('dead', 'dead.1', '0.1.0', ${NOW} - 10500)`,
  );
  await a.kill('SIGTERM');
  t.is(a.said('this panel takes no new callers, and stops soon'), undefined);
  const b = await panels.start('b', SMALL);
  await panels.query(`UPDATE cluster_panels SET seen_at = ${NOW} + 2000 WHERE name = 'dead'`);
  await b.kill('SIGTERM');
  t.like(b.said('this panel takes no new callers, and stops soon'), { others: ['dead'] });
  const left = await panels.query<{ name: string }>('SELECT name FROM cluster_panels ORDER BY name');
  t.deepEqual(
    left.map(({ name }) => name),
    ['dead'],
    'one that stops is none of them any more',
  );
});

onServer('a rolling restart under load fails no call, and sockets come back', async (t) => {
  await using panels = await Panels.open();
  let [a, b] = [await panels.start('a'), await panels.start('b')];
  const inbound = await a.addInbound({ remark: 'shared' });
  const ada = await a.addClient('ada', [inbound]);
  const balancer = new Balancer();
  t.teardown(() => balancer.close());
  balancer.add(a);
  balancer.add(b);
  const load = new Load(balancer, a, ada);
  await b.until(() => balancer.ready.length === 2, 'both panels take callers');
  load.start();
  t.teardown(() => load.stop());
  const restart = async (panel: PanelProcess, name: string): Promise<PanelProcess> => {
    t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
    balancer.remove(panel);
    const next = await panels.start(name, {}, { dataDirectory: panel.dataDirectory });
    balancer.add(next);
    await next.until(() => balancer.ready.length === 2, 'it takes callers again');
    return next;
  };
  const [first, second] = [a, b];
  a = await restart(a, 'a');
  b = await restart(b, 'b');
  await sleep(1_000);
  const { failures, comments, fetches, closes } = load;
  await load.stop();
  t.deepEqual(failures, []);
  t.true(comments.length > 50 && fetches > 50, `${comments.length} edits, ${fetches} fetches`);
  // Two sockets, and each panel that stops tells those that it has.
  t.true(closes.length > 0);
  t.deepEqual(
    closes.filter((code) => code !== 1012 && code !== 'transport close' && code !== 'transport error'),
    [],
  );
  // The last edit was made in one of them; the other one sees it within a second.
  const last = comments.at(-1) ?? '';
  for (const panel of [a, b])
    await panel.until(
      async () => (await panel.get<{ comment: string }>('/panel/api/clients/get/ada')).comment === last,
      'each panel has the last edit',
    );
  // Handed over, not lost: within a second, and long before the first panel had ended.
  const handedOver = at(first, 'another panel may lead now');
  const tookOver = at(second, 'this panel leads: it runs the jobs and the core');
  t.true(tookOver - handedOver < TAKES_OVER_MS, `${tookOver - handedOver} ms`);
  t.true(tookOver < at(first, 'stopping'));
  t.true(leads(a));
  t.deepEqual([...first.faults, ...second.faults, ...a.faults, ...b.faults], []);
});

onServer('a panel that cannot follow the others takes no callers, and is still alive', async (t) => {
  await using panels = await Panels.open();
  const a = await panels.start('a', SMALL);
  await a.until(async () => (await Balancer.statusOf(a)) === 200, 'it takes callers');
  // What others have changed cannot be read any more.
  await panels.query('RENAME TABLE cluster_state TO cluster_state_away');
  await a.until(async () => (await Balancer.statusOf(a)) === 503, 'it takes none');
  t.is((await a.call('/healthz', { anonymous: true })).status, 200);
  await panels.query('RENAME TABLE cluster_state_away TO cluster_state');
  await a.until(async () => (await Balancer.statusOf(a)) === 200, 'it takes callers again');
  t.pass();
});
