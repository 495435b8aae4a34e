// Runs on every database in test:full.
// A core for each panel: the bytes of outbounds are those of all cores, each byte once, and an override of a balancer is in
// force in each of them.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { MIB } from '../../../test/engine/user.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import type { ShownBalancer } from '../../outbounds/balancers.js';
import type { ShownOutbound } from '../../outbound-traffic/store.js';
import { API, configure, type Template } from '../../outbounds/test/world.js';
import { connected, downloads, opened, own, SEVERAL_POLLS_MS } from './own-cores.js';
import { leads, Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;

const downOf = async (panel: PanelProcess, tag: string): Promise<number> => {
  const shown = await panel.get<ShownOutbound[]>(`${API}/getOutboundsTraffic`);
  return shown.find((one) => one.tag === tag)?.down ?? 0;
};
async function atLeast(panel: PanelProcess, bytes: number): Promise<number> {
  await panel.until(
    async () => (await downOf(panel, 'direct')) >= bytes,
    `${bytes} bytes of the outbound are counted`,
    SEVERAL_POLLS_MS,
  );
  return downOf(panel, 'direct');
}

onServer('the bytes of an outbound are those of both cores, each once, whichever panel dies', async (t) => {
  await using panels = await Panels.open();
  const { a, b, server } = await opened(t, panels);
  const inbound = await b.addInbound();
  await a.addClient('ann', [inbound]);
  const user = await connected(t, a, 'ann', server);
  let came = await downloads(user, 16, MIB);
  for (const panel of [a, b]) {
    const down = await atLeast(panel, came);
    t.true(down <= came * 1.02, `${down} bytes are counted of ${came}`);
  }
  const readings = await panels.query<{ panel: string }>(
    'SELECT panel, SUM(down) AS down FROM outbound_readings GROUP BY panel ORDER BY panel',
  );
  t.deepEqual(
    readings.map(({ panel }) => panel),
    ['a', 'b'],
    'both have served',
  );

  const core = await a.corePid();
  await a.kill('SIGKILL');
  came += await downloads(user, 12, MIB);
  await b.until(() => leads(b), 'the other panel leads', 60_000);
  const again = await panels.start('a', own('standard'), { dataDirectory: a.dataDirectory });
  t.is(await again.corePid(), core, 'the panel has adopted its core');
  came += await downloads(user, 8, MIB);
  let down = await atLeast(again, came);
  t.true(down <= came * 1.02, `${down} bytes are counted of ${came}, after a crash`);

  await again.get('/panel/api/server/restartEngineService', { method: 'POST' });
  came += await downloads(user, 8, MIB);
  down = await atLeast(b, came);
  t.true(down <= came * 1.02, `${down} bytes are counted of ${came}, after a restart of a core`);

  await b.get(`${API}/resetOutboundsTraffic`, { body: { tag: 'direct' } });
  const more = await downloads(user, 8, MIB);
  down = await atLeast(again, more);
  t.true(down <= more * 1.02, `${down} bytes are counted of ${more}, after a reset`);
});

const pool = (template: Template): object => ({
  ...template,
  outbounds: [...template.outbounds, ...['pool-a', 'pool-b'].map((tag) => ({ tag, protocol: 'freedom' }))],
  routing: {
    ...template.routing,
    balancers: [{ tag: 'pool', selector: ['pool-'], strategy: { type: 'random' } }],
    rules: [{ type: 'field', domain: ['full:pooled.example'], balancerTag: 'pool' }],
  },
});
const poolOf = async (panel: PanelProcess): Promise<ShownBalancer | undefined> => {
  const shown = await panel.get<Record<string, ShownBalancer>>(`${API}/balancerStatus`, {
    body: { tags: 'pool' },
  });
  return shown['pool'];
};

onServer('an override of a balancer is in force in both cores, wherever it is made', async (t) => {
  await using panels = await Panels.open();
  const { a, b } = await opened(t, panels);
  await configure(a, 'http://127.0.0.1:9/', pool);
  for (const panel of [a, b])
    await panel.until(async () => (await poolOf(panel))?.running === true, 'each core has the balancer');
  const override = (panel: PanelProcess, target: string) =>
    panel.get(`${API}/balancerOverride`, { body: { tag: 'pool', target } });
  const inForce = async (target: string, what: string) => {
    for (const panel of [a, b])
      await panel.until(async () => (await poolOf(panel))?.override === target, what, 10_000);
  };
  await override(a, 'pool-a');
  await inForce('pool-a', 'an override of the leader');
  await override(b, 'pool-b');
  await inForce('pool-b', 'an override of the other panel');

  const core = await b.corePid();
  process.kill(core ?? 0, 'SIGKILL');
  await b.until(async () => ![core, undefined].includes(await b.corePid()), 'another core runs', 60_000);
  await b.until(async () => (await poolOf(b))?.running === true, 'it has the balancer', 60_000);
  await inForce('pool-b', 'after a crash of a core');
  await a.get('/panel/api/server/restartEngineService', { method: 'POST' });
  await inForce('pool-b', 'after a restart of a core');

  await override(a, '');
  await inForce('', 'its end');
  t.pass();
});
