// What other plugins do with inbounds of nodes: nothing of them runs here, and what nodes report is shown as theirs.
import test from 'ava';

import { contribute, definePlugin, tap } from '../../../kernel/index.js';
import {
  FakeClock,
  FakeEngine,
  freePort,
  refused,
  selfSigned,
  TestPanel,
} from '../../../test/harness/index.js';
import { invariants } from '../../../test/harness/invariants.js';
import { StandInNodes } from '../../../test/harness/stand-in-nodes.js';
import { afterInboundSave, duringInboundSave, type InboundChange, ProtocolPrograms } from '../contract.js';

const API = '/panel/api/inbounds';
const CLIENTS = '/panel/api/clients';
const FAR = { guid: 'far-guid', name: 'far', address: 'far.example' };
const NEAR = { guid: 'near-guid', name: 'near', address: '' };

interface Shown {
  readonly id: number;
  readonly tag: string;
  readonly nodeId: number | null;
  readonly originNodeGuid: string;
  readonly state: string;
  readonly openConnections: { readonly end: boolean; readonly reason: string };
  readonly fallbackParent: unknown;
  readonly settings: { readonly server?: { readonly subnetIp: string } };
}

async function open() {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const nodes = new StandInNodes([7, FAR], [8, NEAR]);
  const checks = invariants();
  const asked: number[] = [];
  const seen: { during: InboundChange[]; after: InboundChange[] } = { during: [], after: [] };
  const watcher = definePlugin({
    name: 'watcher',
    version: '1.0.0',
    api: 1,
    about: 'Runs tuic, and sees changes, for tests.',
    contributes: () => [
      contribute(ProtocolPrograms, {
        protocol: 'tuic',
        state: ({ id }) => {
          asked.push(id);
          return 'running';
        },
      }),
    ],
    taps: () => [
      tap(duringInboundSave, ({ changes }) => void seen.during.push(...changes)),
      tap(afterInboundSave, ({ changes }) => void seen.after.push(...changes)),
    ],
  });
  const panel = await TestPanel.boot({
    plugins: [engine.plugin, nodes.plugin, watcher, checks.plugin],
    clock,
  });
  const call = (path: string, body: object) => panel.call<Shown>(`${API}/${path}`, { body });
  const add = async (body: object): Promise<Shown> => {
    const answer = await call('add', {
      protocol: 'vless',
      listen: '127.0.0.1',
      port: await freePort(),
      ...body,
    });
    if (!answer.body.success) throw new Error(answer.text);
    return answer.body.obj;
  };
  const get = (id: number) => panel.get<Shown>(`${API}/get/${id}`);
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  return { engine, clock, nodes, checks, asked, seen, panel, call, add, get, poll };
}
const post = <T>(panel: TestPanel, path: string) => panel.get<T>(`${CLIENTS}/${path}`, { method: 'POST' });

test('programs, connections and checks know local inbounds only; hooks see all', async (t) => {
  const { nodes, checks, asked, seen, panel, add, get } = await open();
  await using _ = panel;
  const here = await add({ protocol: 'tuic', settings: {}, streamSettings: {} }).catch(() => undefined);
  const there = await add({ protocol: 'mtproto', nodeId: 7 });
  t.is(there.state, '', 'no program here is asked');
  t.like(await get(there.id), { state: '', openConnections: { end: false } });
  t.regex((await get(there.id)).openConnections.reason, /another machine/);
  t.false(asked.includes(there.id));
  if (here) t.true(asked.includes(here.id));
  t.like(seen.during.at(-1)?.after, { id: there.id, nodeId: 7 });
  t.like(seen.after.at(-1)?.after, { id: there.id, nodeId: 7 });
  const sidecars = await panel.get<{ inboundIds: number[] }[]>('/panel/api/x/sidecars');
  t.false(JSON.stringify(sidecars).includes(`in-${there.id}`));
  await panel.addClient('ada', [there.id]);
  t.deepEqual(nodes.told.flat(), [{ inboundId: there.id, clientId: 1 }]);
  t.deepEqual(await checks.broken(), []);
});

test('an edit of a node is pending with its name, also where no plugin brings it there', async (t) => {
  const { engine, nodes, panel, call, add } = await open();
  await using _ = panel;
  nodes.answer = { pending: true, reason: 'it is offline', node: 'far' };
  const port = await freePort();
  const added = await call('add', { protocol: 'vless', port, nodeId: 7 });
  const waits = 'the node far does not have it yet: it is offline';
  t.is(added.body.msg, `inbound added; ${waits}`);
  const { id } = added.body.obj;
  const client = await panel.call(`${CLIENTS}/add`, { body: { client: { email: 'ada' }, inboundIds: [id] } });
  t.is(client.body.msg, `client added; ${waits}`);
  for (const body of [{ totalGB: 77 }, { enable: false }, { comment: 'x' }, { limitIp: 2 }]) {
    const edited = await panel.call(`${CLIENTS}/update/ada`, { body });
    t.is(edited.body.msg, `client saved; ${waits}`, JSON.stringify(body));
  }
  t.is((await call(`setEnable/${id}`, { enable: false })).body.msg, `inbound disabled; ${waits}`);
  t.is((await call(`del/${id}`, {})).body.msg, `inbound deleted; ${waits}`);

  nodes.answer = { pending: false, reason: '' };
  nodes.serves = false;
  engine.running = false;
  const alone = 'the node far does not have it yet: no plugin brings changes to it';
  const other = await call('add', { protocol: 'vless', port, nodeId: 7 });
  t.is(other.body.msg, `inbound added; ${alone}`);
  const local = await add({});
  t.is((await call(`update/${local.id}`, { remark: 'x' })).body.msg, 'inbound saved');
  const both = await panel.call(`${CLIENTS}/ada/attach`, { body: { inboundIds: [other.body.obj.id] } });
  t.true(both.body.msg.endsWith(alone), both.body.msg);
  t.deepEqual([...engine.users.keys()], []);
});

test('who is online, and from where, comes by guid', async (t) => {
  const { engine, clock, nodes, panel, add, poll } = await open();
  await using _ = panel;
  const here = await add({});
  const there = await add({ nodeId: 7, port: 5000 });
  const ada = await panel.addClient('ada', [here.id, there.id]);
  const bob = await panel.addClient('bob', [there.id], { limitIp: 1 });
  engine.move(here.id, ada.id, 1, 1);
  nodes.readings = [
    { stream: 'far', epoch: 'e', users: [{ clientId: bob.id, inboundId: there.id, up: 5, down: 5 }] },
  ];
  await poll();
  const own = here.originNodeGuid;
  t.deepEqual(await post(panel, 'onlinesByGuid'), { [own]: ['ada'], 'far-guid': ['bob'] });
  t.deepEqual(await post(panel, 'activeInbounds'), { [own]: [here.tag], 'far-guid': [there.tag] });

  // A machine below the node has a guid of its own; idle connections move no bytes.
  nodes.presence.report('below', { clients: [ada.id, 999], inbounds: [there.id, 999] });
  t.deepEqual(await post(panel, 'onlinesByGuid'), { [own]: ['ada'], 'far-guid': ['bob'], below: ['ada'] });
  for (let i = 0; i < 3; i++) {
    await poll();
    nodes.presence.report('below', { clients: i === 2 ? [] : [ada.id], inbounds: [] });
  }
  nodes.presence.report('near-guid', { clients: [ada.id], inbounds: [] });
  await poll();
  t.deepEqual(await post(panel, 'onlinesByGuid'), { [own]: [], 'near-guid': ['ada'] });
  t.deepEqual(await post(panel, 'onlines'), ['ada']);
  for (let i = 0; i < 4; i++) await poll();
  t.deepEqual(await post(panel, 'onlines'), [], 'a machine that is silent has nobody online');
  for (const bad of [
    () => nodes.presence.report(own, { clients: [], inbounds: [] }),
    () => nodes.presence.report('', { clients: [], inbounds: [] }),
    () => nodes.presence.report('x y', { clients: [], inbounds: [] }),
    () => nodes.presence.report('ok', { clients: ['1' as never], inbounds: [] }),
    () => nodes.presence.report('ok', { clients: 7 as never, inbounds: [] }),
  ])
    t.throws(bad, { instanceOf: TypeError });

  const at = clock.now();
  await nodes.addresses.seen('far-guid', [
    { clientId: bob.id, address: '198.51.100.1', at },
    { clientId: bob.id, address: 'nonsense', at },
    { clientId: 999, address: '198.51.100.2', at },
  ]);
  await nodes.addresses.seen('near-guid', [{ clientId: bob.id, address: '2001:DB8::1', at }]);
  const timestamp = Math.floor(at / 1000);
  t.deepEqual(await post(panel, 'clientIpsByGuid'), {
    [own]: {},
    'far-guid': { bob: [{ ip: '198.51.100.1', timestamp }] },
    'near-guid': { bob: [{ ip: '2001:db8::1', timestamp }] },
  });
  await t.throwsAsync(nodes.addresses.seen(own, []), { instanceOf: TypeError });
  await t.throwsAsync(nodes.addresses.seen('far-guid', 'x' as never), { instanceOf: TypeError });
});

test('an inbound of a node is disabled at its own limit, and counts from zero after a reset', async (t) => {
  const { nodes, panel, add, get, poll } = await open();
  await using _ = panel;
  const there = await add({ nodeId: 7, total: 100 });
  const { id } = await panel.addClient('ada', [there.id]);
  const moved = (up: number, down: number) => {
    nodes.readings = [
      { stream: 'far', epoch: 'e', users: [{ clientId: id, inboundId: there.id, up, down }] },
    ];
    return poll();
  };
  await moved(40, 40);
  t.like(await get(there.id), { enable: true, up: 40, down: 40, depletedCause: null });
  const { asked } = nodes;
  await moved(40, 60);
  t.like(await get(there.id), { enable: false, up: 40, down: 60, depletedCause: 'quota' });
  t.is(nodes.asked, asked + 1, 'the way to the node learns of it');
  await panel.get(`${API}/${there.id}/resetTraffic`, { method: 'POST' });
  t.like(await get(there.id), { enable: true, up: 0, down: 0, depletedCause: null });
  await moved(40, 61);
  t.like(await get(there.id), { up: 0, down: 1 });
});

test('a host for some machines is shown for inbounds of theirs', async (t) => {
  const { panel, add } = await open();
  await using _ = panel;
  const here = await add({});
  const there = await add({ nodeId: 7 });
  await panel.addClient('ada', [here.id, there.id], { subId: 'ada' });
  const host = { remark: 'cdn', hosts: ['cdn.example'], nodeGuids: ['far-guid'] };
  await panel.get('/panel/api/hosts/add', { body: { ...host, inboundIds: [here.id, there.id] } });
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/', subEncrypt: false } });
  const text = await (await fetch(`${panel.subscriptionUrl}/s/ada`)).text();
  const links = text.trim().split('\n');
  t.deepEqual(
    links.map((link) => new URL(link).hostname === 'cdn.example'),
    [false, true],
    links.join(' '),
  );
});

test('an inbound is shown with the address of its node, or its own', async (t) => {
  const { panel, add, call } = await open();
  await using _ = panel;
  const { id } = await add({ nodeId: 7, listen: '203.0.113.9' });
  const local = await add({ listen: '127.0.0.1', shareAddrStrategy: 'custom', shareAddr: 'here.example' });
  await panel.addClient('ada', [id, local.id]);
  const host = async () => new URL((await panel.get<string[]>(`${CLIENTS}/links/ada`))[0] ?? '').hostname;
  t.is(await host(), 'far.example');
  await call(`update/${id}`, { shareAddrStrategy: 'listen' });
  t.is(await host(), '203.0.113.9');
  await call(`update/${id}`, { listen: '' });
  t.is(await host(), 'far.example');
  await call(`update/${id}`, { shareAddrStrategy: 'custom', shareAddr: 'own.example' });
  t.is(await host(), 'own.example');
  await call(`update/${id}`, { shareAddrStrategy: 'node', listen: '203.0.113.9', nodeId: 8 });
  t.is(await host(), '203.0.113.9', 'the node has no address');
});

test('a fallback joins inbounds of one machine', async (t) => {
  const { engine, panel, add, get } = await open();
  await using _ = panel;
  const { cert, key } = selfSigned();
  const streamSettings = {
    network: 'tcp',
    security: 'tls',
    tlsSettings: { certificates: [{ certificate: cert.split('\n'), key: key.split('\n') }] },
  };
  const master = await add({ streamSettings });
  const port = await freePort();
  const child = await add({ port });
  const far = await add({ nodeId: 7, port });
  const at = `${API}/${master.id}/fallbacks`;
  const apart = { status: 409, code: 'FALLBACKS_APART' };
  await refused(
    t,
    panel,
    at,
    { body: { fallbacks: [{ childId: far.id }] } },
    { ...apart, field: 'fallbacks.0.childId' },
  );
  const saved = await panel.get<{ childId: number }[]>(at, {
    body: { fallbacks: [{ dest: `127.0.0.1:${port}` }] },
  });
  t.is(saved[0]?.childId, child.id, 'and not the one of the node at the same place');
  t.like(await get(child.id), { fallbackParent: { masterId: master.id } });
  t.is((await get(far.id)).fallbackParent, null);
  for (const id of [child.id, master.id])
    await refused(t, panel, `${API}/update/${id}`, { body: { nodeId: 8 } }, { ...apart, field: 'nodeId' });
  t.true(engine.inbounds.includes(child.tag));
});

test('files and local destinations are left to the node, and are checked when the inbound comes here', async (t) => {
  const { panel, add } = await open();
  await using _ = panel;
  const streamSettings = {
    network: 'tcp',
    security: 'tls',
    tlsSettings: { certificates: [{ certificateFile: '/etc/far/cert.pem', keyFile: '/etc/far/key.pem' }] },
  };
  const fallbacks = [{ dest: '127.0.0.1:22' }];
  const files = await add({ nodeId: 7, streamSettings });
  const destination = await add({ nodeId: 7, settings: { fallbacks } });
  for (const [id, says] of [
    [files.id, 'certificateFile'],
    [destination.id, '127.0.0.1:22'],
  ] as const)
    await refused(
      t,
      panel,
      `${API}/update/${id}`,
      { body: { nodeId: null } },
      { status: 400, code: 'KERNEL_INVALID', says },
    );
  // Its schema is checked here all the same.
  await refused(
    t,
    panel,
    `${API}/add`,
    { body: { protocol: 'vless', port: 5001, nodeId: 7, streamSettings: { network: 'nonsense' } } },
    { status: 400, code: 'KERNEL_INVALID', field: 'streamSettings.network' },
  );
  const uses = await panel.call('/panel/api/x/certificates/add', {
    body: { names: ['a.example'], uses: { inbounds: [files.id] } },
  });
  t.false(uses.body.success);
});

test('an imported inbound keeps its node where it is the same one, and else runs here', async (t) => {
  const { panel, add, get } = await open();
  await using _ = panel;
  const there = await add({ nodeId: 7, remark: 'original' });
  const exported = await get(there.id);
  await panel.get(`${API}/del/${there.id}`, { method: 'POST' });
  const bring = async (change: object) => {
    const answer = await panel.call(`${API}/import`, {
      body: { data: { ...exported, port: await freePort(), listen: '127.0.0.1', tag: '', ...change } },
    });
    const rows = await panel.get<Shown[]>(`${API}/list`);
    return { msg: answer.body.msg, row: rows.at(-1) };
  };
  t.like(await bring({}), { msg: 'inbound imported with 0 clients', row: { nodeId: 7 } });
  const elsewhere = await bring({ originNodeGuid: 'another', tag: 'n7-in-1-tcp' });
  t.like(elsewhere.row, { nodeId: null, tag: 'in-1-tcp' });
  t.regex(elsewhere.msg, /it runs on this machine, as its node 7 is not known here/);
  t.like((await bring({ nodeId: 99 })).row, { nodeId: null });
  t.like((await bring({ nodeId: 0 })).row, { nodeId: null });
});

test('a network of AmneziaWG is taken on one machine only', async (t) => {
  const { panel, add, call } = await open();
  await using _ = panel;
  const server = { subnetIp: '10.77.0.0', subnetCidr: 24 };
  await add({ protocol: 'amneziawg', nodeId: 7, settings: { server } });
  const other = await add({ protocol: 'amneziawg', nodeId: 8, settings: { server } });
  const twice = await call('add', {
    protocol: 'amneziawg',
    port: await freePort(),
    nodeId: 7,
    settings: { server },
  });
  t.is(twice.status, 400, twice.text);
  const moved = await call(`update/${other.id}`, { nodeId: 7 });
  t.is(moved.status, 400, moved.text);
});
