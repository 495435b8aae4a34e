// A central panel of the older kind manages this panel as its node, with a token or a certificate: a whole life, by its own calls.
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { FakeEngine, freePort, selfSigned, TestPanel, until } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import nodes from '../../nodes/index.js';
import type { AuthorityStore } from '../../nodes/mtls/authority-store.js';
import { tlsPanel } from '../../nodes/test/tls-world.js';
import { OlderCentral, sha256, type Wanted, wireClient } from './older-central.js';

async function tokenOf(panel: TestPanel, kind: string): Promise<string> {
  const body = { name: `central ${kind}`, kind };
  return (await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', { body })).token;
}
async function boot(t: { teardown(undo: () => unknown): void }) {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return { engine, panel };
}
const wanted = async (tag: string, clients: Record<string, unknown>[] = []): Promise<Wanted> => {
  const port = await freePort();
  return { tag: tag.replace('PORT', String(port)), port, remark: 'from above', enable: true, clients };
};

for (const kind of ['', 'node'])
  test.serial(`a central with a token of ${kind || 'an admin'} lives a whole life`, async (t) => {
    const { engine, panel } = await boot(t);
    const central = new OlderCentral(`${panel.url}/`, { token: await tokenOf(panel, kind) });
    const move = async (email: string, inbound: number, down: number) => {
      const { id } = await panel.get<{ id: number }>(`/panel/api/clients/get/${email}`);
      engine.move(inbound, id, 0, down);
      await panel.call('/panel/api/system/jobs/traffic/poll', { method: 'POST' });
    };

    const probe = await central.get<{ xray: { state: string }; panelGuid: string; panelVersion: string }>(
      'server/status',
    );
    t.is(probe.status, 200);
    t.truthy(probe.obj.xray.state);
    t.truthy(probe.obj.panelGuid);
    t.truthy(probe.obj.panelVersion);
    t.deepEqual((await central.get('server/descendants')).obj, []);
    t.false(
      Object.keys(probe.headers).some((name) => /caps/.test(name)),
      'zstd is not offered',
    );

    const one = await wanted('n3-in-PORT-tcp', [wireClient('ann')]);
    const two = await wanted('second');
    for (const inbound of [one, two]) {
      const { status, success, msg } = await central.push(inbound);
      t.true(success, `${status} ${msg}`);
    }
    const [first, second] = await central.list();
    t.like(first, { tag: `in-${one.port}-tcp`, port: one.port, enable: true, remark: 'from above' });
    t.is(first?.originNodeGuid, probe.obj.panelGuid);
    t.is(first?.streamSettings.network, 'tcp');
    t.like(first?.settings.clients[0], { email: 'ann', id: one.clients[0]?.['id'], enable: true });
    t.is(second?.tag, 'second');
    const ids = [first?.id ?? 0, second?.id ?? 0];

    const bob = wireClient('bob', { totalGB: 10_000, comment: 'paid' });
    t.true((await central.json('clients/add', { client: bob, inboundIds: [ids[0]] })).success);
    const again = await central.json('clients/add', { client: bob, inboundIds: [ids[1]] });
    t.true(again.success, again.msg);
    const shown = (email: string) => panel.get<Record<string, unknown>>(`/panel/api/clients/get/${email}`);
    t.deepEqual((await shown('bob'))['inboundIds'], ids);
    const other = await central.json('clients/add', {
      client: wireClient('bob', { subId: 'another' }),
      inboundIds: [ids[0]],
    });
    t.like(other, { status: 200, success: false });
    t.regex(other.msg, /email/i);

    const { comment: _, totalGB: __, ...less } = bob;
    const renamed = { ...less, email: 'rob', enable: false };
    t.true((await central.json(`clients/update/bob?inboundIds=${ids.join(',')}`, renamed)).success);
    t.like(await shown('rob'), { enable: false, comment: '', totalGB: 0, uuid: bob['id'] });
    t.true(
      (await central.json(`clients/update/rob?inboundIds=${ids.join(',')}`, { ...renamed, enable: true }))
        .success,
    );
    t.is((await central.json('clients/update/nobody', renamed)).status, 404);
    t.true((await central.json('clients/rob/detach', { inboundIds: [ids[1]] })).success);
    t.deepEqual((await shown('rob'))['inboundIds'], [ids[0]]);

    await central.pull();
    await move('rob', ids[0] ?? 0, 3_000);
    await central.pull();
    await central.pull();
    t.is(central.counted.get('rob'), 3_000);
    // What it tells of all its nodes is shown here, and no counter that it takes differences of moves by it.
    const pushed = {
      masterGuid: central.guid,
      traffics: [
        { email: 'rob', up: 0, down: 90_000 },
        { email: 'x', up: 1, down: 1 },
      ],
    };
    t.true((await central.json('inbounds/pushClientTraffics', pushed)).success);
    t.is((await panel.get<{ down: number }>('/panel/api/clients/traffic/rob')).down, 90_000);
    await central.pull();
    t.is(central.counted.get('rob'), 3_000);
    await move('rob', ids[0] ?? 0, 500);
    await central.pull();
    t.is(central.counted.get('rob'), 3_500);

    const online = await central.json<Record<string, string[]>>('clients/onlinesByGuid');
    t.deepEqual(online.obj, { [probe.obj.panelGuid]: ['rob'] });
    const seen = await central.json<Record<string, number>>('clients/lastOnline');
    t.true((seen.obj['rob'] ?? 0) > 1e12, 'in milliseconds');
    const active = await central.json<Record<string, string[]>>('clients/activeInbounds');
    t.deepEqual(active.obj[probe.obj.panelGuid], [first?.tag ?? '']);
    t.deepEqual((await central.get('hosts/list')).obj, []);
    const ips = [
      { clientEmail: 'rob', ips: [{ ip: '192.0.2.7', timestamp: Math.floor(Date.now() / 1000) }] },
    ];
    t.true((await central.json('server/clientIps', ips)).success);
    t.true((await central.get<unknown[]>('server/clientIps')).success);
    t.true((await central.json('clients/clientIpsByGuid')).success);

    t.true((await central.json('clients/resetTraffic/rob')).success);
    await central.pull();
    await move('rob', ids[0] ?? 0, 40);
    await central.pull();
    t.is(central.counted.get('rob'), 3_540);
    for (const path of [`inbounds/${ids[0]}/resetTraffic`, 'inbounds/resetAllTraffics']) {
      const { success, msg } = await central.json(path);
      t.true(success, `${path}: ${msg}`);
    }

    // It was away: what should be is pushed as a whole, and the rest is deleted.
    one.clients = [wireClient('ann', { totalGB: 7_000 }), wireClient('cyd')];
    one.remark = 'later';
    await central.reconcile([one]);
    const after = await central.list();
    t.deepEqual(
      after.map(({ tag, remark }) => [tag, remark]),
      [[first?.tag, 'later']],
    );
    t.deepEqual(after[0]?.settings.clients.map(({ email }) => email).sort(), ['ann', 'cyd']);
    t.is(after[0]?.clientStats.find(({ email }) => email === 'ann')?.total, 7_000);
    t.true((await central.json('clients/del/cyd')).success);
    t.is((await central.json('clients/del/cyd')).status, 404);
    // Many deletions are one push, and it makes another client under the same email.
    one.clients = [];
    await central.reconcile([one]);
    t.deepEqual((await shown('ann'))['inboundIds'], []);
    one.clients = [wireClient('ann', { subId: 'the next one' })];
    t.false((await central.push(one)).success);
    t.like(await shown('ann'), { subId: 'sub-ann' }, 'a body that is refused deletes nobody');
    one.clients = [wireClient('ann', { subId: 'next', id: '11111111-1111-4111-8111-111111111111' })];
    await central.reconcile([one]);
    t.like(await shown('ann'), { subId: 'next', uuid: '11111111-1111-4111-8111-111111111111' });
    // Its cache is older than the node.
    await panel.get(`/panel/api/inbounds/del/${ids[0]}`, { body: {} });
    t.true((await central.push(one)).success);
    t.is((await central.list()).length, 1);
    t.deepEqual(panel.faults, []);
  });

test.serial(
  'a body that is not the one of its hash changes nothing, and neither does one that is packed',
  async (t) => {
    const { panel } = await boot(t);
    const central = new OlderCentral(`${panel.url}/`, { token: await tokenOf(panel, '') });
    const inbound = await wanted('a');
    t.true((await central.push(inbound)).success);
    const [{ id } = { id: 0 }] = await central.list();
    const body = JSON.stringify({ client: wireClient('ann'), inboundIds: [id] });
    const type = { 'content-type': 'application/json' };
    const wrong = { ...type, 'x-config-sha256': sha256(`${body} `) };
    t.is((await central.send('POST', 'clients/add', body, wrong)).status, 400);
    const short = { ...type, 'x-config-sha256': sha256(body).slice(1) };
    t.is((await central.send('POST', 'clients/add', body, short)).status, 400);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-config-sha256': sha256('') };
    t.is((await central.send('POST', `inbounds/update/${id}`, 'enable=false', form)).status, 400);
    t.is((await central.send('POST', `inbounds/del/${id}`, '{}', wrong)).status, 400);
    const hashed = { ...type, 'x-config-sha256': sha256(body) };
    for (const [encoding, packed] of [
      ['zstd', body],
      ['gzip', gzipSync(body)],
    ] as const) {
      const length = String(Buffer.byteLength(packed));
      const headers = { ...hashed, 'content-encoding': encoding, 'content-length': length };
      t.is((await central.send('POST', 'clients/add', packed, headers)).status, 415, encoding);
    }
    t.deepEqual(await panel.get('/panel/api/clients/list'), []);
    t.true((await central.list())[0]?.enable);
    // Bodies of more than one piece, and of routes that read none.
    const clients = Array.from({ length: 2_000 }, (_, i) => wireClient(`c${i}`));
    t.true((await central.push({ ...inbound, clients })).success);
    t.true((await central.json('inbounds/resetAllTraffics', {})).success);
    t.true(
      (
        await central.send('POST', 'clients/add', body, {
          ...type,
          'x-config-sha256': sha256(body).toUpperCase(),
        })
      ).success,
    );
    t.deepEqual(panel.faults, []);
  },
);

test.serial('other callers have the strict API as before', async (t) => {
  const { panel } = await boot(t);
  const id = await panel.addInbound({});
  await panel.addClient('ann', [id], { comment: 'kept' });
  const token = await tokenOf(panel, '');
  const ours = new OlderCentral(`${panel.url}/`, { token });
  const headers = { 'user-agent': 'weir', 'content-type': 'application/json' };
  const [listed] = (await ours.send<{ settings: unknown }[]>('GET', 'inbounds/list', '', headers)).obj;
  t.is(listed?.settings, null);
  const go = await panel.call('/panel/api/clients/update/ann', {
    body: { totalGB: 5 },
    anonymous: true,
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'Go-http-client/1.1' },
  });
  t.is(go.status, 200, go.text);
  t.like(await panel.get('/panel/api/clients/get/ann'), { comment: 'kept', totalGB: 5 });
  const taken = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'ann' }, inboundIds: [id] },
    anonymous: true,
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'Go-http-client/1.1' },
  });
  t.is(taken.status, 409);
});

test.serial(
  'by certificate, a central may call what it needs, under its own names, and nothing else',
  async (t) => {
    const observed = servicesOf<{ authorities: AuthorityStore }>(nodes);
    const above = await TestPanel.boot({ plugins: [new FakeEngine().plugin, observed.plugin] });
    t.teardown(() => above[Symbol.asyncDispose]());
    const far = await tlsPanel(t);
    const { caCert } = await above.get<{ caCert: string }>('/panel/api/nodes/mtls/ca', { method: 'POST' });
    t.true((await far.call('/panel/api/nodes/mtls/trustCA', { body: { caCert } })).body.success);
    const { cert, key } = observed.services.authorities.list()[0]?.client ?? selfSigned();
    const tls = { ca: far.cert, cert, key, servername: 'localhost' };
    const central = new OlderCentral(`https://127.0.0.1:${far.port}/`, { tls });
    const inbound = await wanted('n3-in-PORT-tcp', [wireClient('ann')]);
    await until(async () => (await central.get('server/status')).status === 200, 'it is trusted');
    await central.reconcile([inbound]);
    const [listed] = await central.list();
    t.like(listed?.settings.clients[0], { email: 'ann' });
    t.true(
      (await central.json(`clients/update/ann?inboundIds=${listed?.id}`, wireClient('ann', { totalGB: 9 })))
        .success,
    );
    // The stand-in of the core has no such route; the real one is asked in another test.
    t.not((await central.json('server/restartXrayService')).status, 403);
    for (const path of ['clients/onlinesByGuid', 'clients/activeInbounds', 'clients/del/ann'])
      t.true((await central.json(path)).success, path);
    for (const path of ['setting/all', 'clients/resetAllTraffics'])
      t.is((await central.json(path)).status, 403, path);
    t.is((await central.get('nodes/list')).status, 403);
  },
);
