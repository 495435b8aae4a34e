// A local inbound and one of a node on the same port, with one client on both: the real core runs the local one, a
// stand-in counts for the node.
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../harness/api.js';
import { StandInNodes } from '../harness/stand-in-nodes.js';
import { definePlugin, tap } from '../../kernel/index.js';
import { composeCoreConfig } from '../../plugins/engine/contract.js';
import { Inbounds } from '../../plugins/inbounds/contract.js';
import { invariants } from '../harness/invariants.js';
import type { CounterReading } from '../../plugins/traffic/contract.js';
import { connect, counted, MIB, openPanel, openServer, poll, usageOf, within } from './user.js';

const API = '/panel/api/inbounds';
const CLIENTS = '/panel/api/clients';
const FAR = { guid: 'far-guid', name: 'far', address: 'far.example' };
type Panel = Awaited<ReturnType<typeof openPanel>>;
interface Shown {
  readonly id: number;
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly enable: boolean;
  readonly nodeId: number | null;
}

/** Brings all inbounds to the core, wherever they run. */
const forgetful = definePlugin({
  name: 'forgetful',
  version: '1.0.0',
  api: 1,
  about: 'Forgets where inbounds run, for tests.',
  uses: { inbounds: Inbounds },
  taps: ({ inbounds }) => [
    tap(composeCoreConfig, (add) => {
      for (const { id, port } of inbounds.list().filter(({ remark }) => remark === 'there'))
        add({
          inbound: {
            id,
            tag: 'forgotten',
            protocol: 'vless',
            config: {
              tag: 'forgotten',
              protocol: 'vless',
              listen: '127.0.0.1',
              port,
              settings: { clients: [], decryption: 'none' },
            },
          },
        });
    }),
  ],
});

async function open(t: ExecutionContext) {
  const nodes = new StandInNodes([7, FAR]);
  const checks = invariants();
  const panel = await openPanel(t, { plugins: [nodes.plugin, forgetful, checks.plugin] });
  const port = await freePort();
  const here = await panel.addInbound({ port, remark: 'here' });
  const there = await panel.addInbound({ port, listen: '', nodeId: 7, remark: 'there' });
  const { id } = await panel.addClient('ada', [here, there], { subId: 'ada' });
  const reading = (up: number, down: number, epoch = 'one'): CounterReading => ({
    stream: FAR.guid,
    epoch,
    users: [{ clientId: id, inboundId: there, up, down }],
  });
  return { nodes, checks, panel, port, here, there, reading };
}
const get = (panel: Panel, id: number) => panel.get<Shown>(`${API}/get/${id}`);
/** Tags of inbounds with users' protocols in the core's config. */
async function inCore(panel: Panel): Promise<string[]> {
  const config = await panel.get<{ inbounds: { tag: string; protocol: string }[] }>(
    '/panel/api/server/getConfigJson',
  );
  return config.inbounds.filter(({ protocol }) => protocol === 'vless').map(({ tag }) => tag);
}
const byGuid = (panel: Panel, path: string) =>
  panel.get<Record<string, string[]>>(`${CLIENTS}/${path}`, { method: 'POST' });

test('links, formats, counters and a quota go over both, and the core never has the inbound of the node', async (t) => {
  const { nodes, checks, panel, port, here, there, reading } = await open(t);
  const server = await openServer(t);
  const local = (await get(panel, here)).tag;
  t.deepEqual(await inCore(panel), [local], 'also where a plugin forgets where it runs');
  t.deepEqual(await checks.broken(), []);

  const links = await panel.get<string[]>(`${CLIENTS}/links/ada`);
  t.is(links.length, 2);
  t.true(links[1]?.includes(`@far.example:${port}`), links[1]);
  await panel.get('/panel/api/setting/update', {
    body: {
      subPath: '/s/',
      subEncrypt: false,
      subJsonEnable: true,
      subJsonPath: '/json/',
      subAltEnable: true,
      subAltPath: '/alt/',
      subSingBoxEnable: true,
      subSingBoxPath: '/sing-box/',
    },
  });
  const subscription = `http://127.0.0.1:${panel.kernel.listeners.port('subscription')}`;
  for (const path of ['/s/', '/json/', '/alt/', '/sing-box/']) {
    const text = await (await fetch(`${subscription}${path}ada`)).text();
    t.true(text.includes('far.example') && text.includes('127.0.0.1'), `${path}: ${text.slice(0, 300)}`);
  }

  const user = await connect(t, panel, 'ada', server, 0);
  t.is(await user.download(MIB), MIB);
  await counted(panel, 'ada', MIB);
  nodes.readings = [reading(MIB, 2 * MIB)];
  await poll(panel);
  await poll(panel);
  t.true(within((await usageOf(panel, 'ada')).down, 3 * MIB), 'each byte once');
  t.like(await get(panel, there), { up: MIB, down: 2 * MIB });
  t.true(within((await get(panel, here)).down, MIB));
  const own = Object.keys(await byGuid(panel, 'onlinesByGuid'))[0] ?? '';
  t.deepEqual(await byGuid(panel, 'onlinesByGuid'), { [own]: ['ada'], 'far-guid': ['ada'] });
  t.deepEqual(await byGuid(panel, 'activeInbounds'), {
    [own]: [local],
    'far-guid': [(await get(panel, there)).tag],
  });

  // Neither machine alone reaches the quota.
  await panel.get(`${CLIENTS}/update/ada`, { body: { totalGB: 6 * MIB } });
  t.true(await user.served());
  nodes.told.length = 0;
  nodes.readings = [reading(MIB, 5 * MIB)];
  await poll(panel);
  t.false((await usageOf(panel, 'ada')).enable);
  t.false(await user.served());
  t.deepEqual(
    nodes.told.flat().map(({ inboundId }) => inboundId),
    [there],
  );
  t.deepEqual(await inCore(panel), [local]);
});

test('disabling, moving and deleting change each machine, and counters stay', async (t) => {
  const { nodes, panel, port, here, there, reading } = await open(t);
  const server = await openServer(t);
  const user = await connect(t, panel, 'ada', server, 0);
  t.is(await user.download(MIB), MIB);
  await counted(panel, 'ada', MIB);
  nodes.readings = [reading(0, MIB)];
  await poll(panel);

  await panel.get(`${API}/setEnable/${there}`, { body: { enable: false } });
  t.false((await get(panel, there)).enable);
  t.true(await user.served(), 'the local one serves');
  t.is((await panel.get<string[]>(`${CLIENTS}/links/ada`)).length, 1);
  await panel.get(`${API}/setEnable/${there}`, { body: { enable: true } });

  // The place is taken while the other one is there.
  const taken = await panel.call(`${API}/update/${there}`, { body: { nodeId: null } });
  t.is(taken.status, 409, taken.text);
  const there1 = await get(panel, there);
  const gone = await panel.call(`${API}/update/${here}`, { body: { nodeId: 7, port: await freePort() } });
  t.true(gone.body.success, gone.text);
  t.deepEqual(await inCore(panel), []);
  t.false(await user.served(), 'the core let go of it');
  t.true((await get(panel, here)).down >= MIB, 'its counters stay');
  const back = await panel.call(`${API}/update/${there}`, { body: { nodeId: null, listen: '127.0.0.1' } });
  t.true(back.body.success, back.text);
  t.deepEqual(await inCore(panel), [`in-${port}-tcp`]);
  t.like(await get(panel, there), { down: there1.down });
  const moved = await connect(t, panel, 'ada', server, 1);
  t.is(await moved.download(MIB), MIB);
  await panel.until(async () => {
    await poll(panel);
    return (await get(panel, there)).down >= 2 * MIB;
  }, 'the core counts it now');

  await panel.get(`${API}/del/${here}`, { method: 'POST' });
  t.true(await moved.served());
  t.deepEqual((await panel.get<{ inboundIds: number[] }>(`${CLIENTS}/get/ada`)).inboundIds, [there]);
  await panel.get(`${CLIENTS}/del/ada`, { method: 'POST' });
  t.false(await moved.served());
});
