// Which ports and sockets are taken, and the tags that are made of them.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Answer, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { transportL4 } from '../stream/stream.js';

interface Inbound {
  readonly id: number;
  readonly tag: string;
  readonly streamSettings: object;
}
let panel: TestPanel;
let folder: string;
test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-sock-'));
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], env: { WEIR_SOCKET_DIRS: folder } });
});
test.after.always(async () => {
  await panel?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const add = (body: object): Promise<Answer<Inbound>> =>
  panel.call('/panel/api/inbounds/add', { body: { protocol: 'vless', enable: false, ...body } });
const update = (id: number, body: object): Promise<Answer<Inbound>> =>
  panel.call(`/panel/api/inbounds/update/${id}`, { body });

const VLESS = { protocol: 'vless' };
const KCP = { protocol: 'vless', streamSettings: { network: 'kcp' } };
const MKCP = { protocol: 'vmess', streamSettings: { method: 'mkcp', network: 'tcp' } };
const HTTP3 = {
  protocol: 'vless',
  streamSettings: { network: 'xhttp', security: 'tls', tlsSettings: { alpn: ['h3'] } },
};
const ss = (network?: string) => ({
  protocol: 'shadowsocks',
  settings: { method: 'aes-128-gcm', ...(network !== undefined && { network }) },
});
const mixed = (udp: boolean) => ({ protocol: 'mixed', settings: { udp } });

/** Whether the second is refused for the first, and with which protocols. */
const PAIRS: readonly (readonly [what: string, first: object, second: object, clash: string | undefined])[] =
  [
    ['two over TCP', VLESS, { protocol: 'trojan' }, 'tcp'],
    ['TCP and mKCP', VLESS, KCP, undefined],
    ['two over mKCP, one by its other name', KCP, MKCP, 'udp'],
    ['Shadowsocks over both, and TCP', ss('tcp,udp'), VLESS, 'tcp'],
    ['Shadowsocks over both, and mKCP', ss('tcp,udp'), KCP, 'udp'],
    ['Shadowsocks over both twice', ss('tcp,udp'), ss('udp, tcp'), 'tcpudp'],
    ['Shadowsocks over UDP, and TCP', ss('udp'), VLESS, undefined],
    ['Shadowsocks without a word is over TCP', ss(), VLESS, 'tcp'],
    ['mixed without UDP, and mKCP', mixed(false), KCP, undefined],
    ['mixed with UDP, and mKCP', mixed(true), KCP, 'udp'],
    ['two addresses', { listen: '127.0.0.1' }, { listen: '127.0.0.2' }, undefined],
    ['an address and all', { listen: '127.0.0.1' }, { listen: '' }, 'tcp'],
    ['all and an address', { listen: '::' }, { listen: '127.0.0.1' }, 'tcp'],
    ['an address by its name', { listen: '127.0.0.1' }, { listen: 'LocalHost' }, 'tcp'],
    ['two spellings of one address', { listen: '::1' }, { listen: '0:0:0:0:0:0:0:1' }, 'tcp'],
    ['two loopback addresses of other kinds', { listen: '127.0.0.1' }, { listen: '::1' }, undefined],
  ];
for (const [what, first, second, clash] of PAIRS)
  test(`one port for ${what}: ${clash ? `${clash} is taken` : 'both are accepted'}`, async (t) => {
    const port = await freePort();
    const one = await add({ port, remark: 'the first', ...first });
    t.true(one.body.success, one.text);
    const other = await add({ port, ...second });
    t.is(other.status, clash ? 409 : 200, other.text);
    if (!clash) return;
    t.is(other.body.code, 'INBOUNDS_PORT_TAKEN');
    const { listen = '' } = first as { listen?: string };
    t.is(
      other.body.msg,
      `port ${port} (${clash}) is taken by inbound #${one.body.obj.id} (the first) on ${listen || '*'}`,
    );
  });

test('HTTP/3 alone is over UDP', async (t) => {
  const { body } = await add({ port: await freePort(), ...HTTP3 });
  // Its certificate is missing; the tag of an accepted one would end with -udp.
  t.false(body.success);
  t.regex(body.msg, /certificates/);
  const l4 = (...alpn: string[]) => transportL4({ network: 'xhttp', security: 'tls', tlsSettings: { alpn } });
  t.deepEqual([l4('h3'), l4('h3', 'h2'), l4('h2', 'h3'), l4()], ['udp', 'tcp', 'tcp', 'tcp']);
});

test('an update meets others, not itself, and a free port again', async (t) => {
  const [port, other] = [await freePort(), await freePort()];
  const { id } = (await add({ port })).body.obj;
  await add({ port: other });
  t.is((await update(id, { remark: 'renamed' })).status, 200);
  t.is((await update(id, { port: other })).status, 409);
  t.is((await update(id, { port: other, streamSettings: { network: 'kcp' } })).status, 200);
  t.is((await add({ port })).status, 200, 'the previous port is free');
});

test('the ports of the panel are refused by name, and free for UDP', async (t) => {
  const subscription = Number(new URL(panel.subscriptionUrl).port);
  for (const [port, name] of [
    [panel.kernel.listeners.panel.port, /is the panel's own; choose another$/],
    [subscription, /is that of the panel's listener subscription; choose another$/],
  ] as const) {
    const { status, body } = await add({ port });
    t.is(status, 409);
    t.is(body.code, 'INBOUNDS_PORT_TAKEN');
    t.regex(body.msg, name);
    t.is((await add({ port, ...KCP })).status, 200);
  }
});

test('a port that another program has is refused for its protocol', async (t) => {
  const program = createSocket('udp4');
  const port = await freePort();
  program.bind(port, '127.0.0.1');
  await once(program, 'listening');
  t.teardown(() => program.close());
  const wanted = { port, listen: '127.0.0.1', enable: true };
  const { status, body } = await add({ ...wanted, ...KCP });
  t.is(status, 409);
  t.is(body.code, 'INBOUNDS_PORT_IN_USE');
  t.is(body.msg, `another program listens on 127.0.0.1:${port} (udp)`);
  const { id } = (await add({ ...wanted, ...ss('tcp') })).body.obj;
  const both = await update(id, ss('tcp,udp'));
  t.is(both.body.code, 'INBOUNDS_PORT_IN_USE', 'what it adds is tried, even where it listens already');
  const { id: disabled } = (await add({ ...wanted, ...KCP, enable: false })).body.obj;
  const on = await panel.call(`/panel/api/inbounds/setEnable/${disabled}`, { body: { enable: true } });
  t.is(on.body.code, 'INBOUNDS_PORT_IN_USE', 'a disabled one holds no port');
});

const tagOf = async (body: object): Promise<string> => (await add(body)).body.obj.tag;
test('generated tags name port and protocol, and are counted up to 99', async (t) => {
  const port = await freePort();
  t.is(await tagOf({ port, listen: '127.0.0.1' }), `in-${port}-tcp`);
  t.is(await tagOf({ port, listen: '127.0.0.2' }), `in-${port}-tcp-2`);
  t.is(await tagOf({ port, ...KCP }), `in-${port}-udp`);
  t.is(await tagOf({ port: port, listen: '127.0.0.3', ...ss('tcp') }), `in-${port}-tcp-3`);
  const both = await freePort();
  t.is(await tagOf({ port: both, ...ss('tcp,udp') }), `in-${both}-tcpudp`);
  t.is(await tagOf({ port: await freePort(), ...mixed(true), tag: 'mine' }), 'mine');
});

test('a generated tag follows port and protocol; a chosen one stays', async (t) => {
  const port = await freePort();
  const { id, tag } = (await add({ port, ...ss('tcp') })).body.obj;
  t.is(tag, `in-${port}-tcp`);
  t.is((await update(id, { tag, ...ss('tcp,udp') })).body.obj.tag, `in-${port}-tcpudp`);
  const next = await freePort();
  t.is((await update(id, { port: next })).body.obj.tag, `in-${next}-tcpudp`);
  t.is((await update(id, { remark: 'x' })).body.obj.tag, `in-${next}-tcpudp`);
  t.is((await update(id, { tag: '' })).body.obj.tag, `in-${next}-tcpudp`);
  for (const custom of [
    `in-${next}-tcpudp-`,
    `in-${next}-tcpudp-x`,
    `in-${next}-tcpudp-100`,
    `in-${next}-tcp`,
  ]) {
    t.is((await update(id, { tag: custom })).body.obj.tag, custom);
    t.is((await update(id, { ...ss('tcp') })).body.obj.tag, custom, 'it is chosen');
    t.is(
      (await update(id, { ...ss('tcp,udp') })).body.obj.tag,
      custom === `in-${next}-tcp` ? `in-${next}-tcpudp` : custom,
    );
    await update(id, { tag: `in-${next}-tcpudp` });
  }
  const last = await freePort();
  const chosen = await update(id, { tag: `chosen-${last}`, port: last });
  t.is(chosen.body.obj.tag, `chosen-${last}`, 'chosen together with another port');
  const { status, body } = await update(id, { tag: 'weir.mine' });
  t.is(status, 400);
  t.regex(body.msg, /tags that begin with weir\. belong to the panel/);
});

const refusedListen = async (t: ExecutionContext, listen: string, says: RegExp, more: object = {}) => {
  const { status, body } = await add({ port: 0, listen, ...more });
  t.is(status, 400, listen);
  t.regex(body.msg, says);
};
test('an inbound may listen on a Unix socket in a named folder, and there only', async (t) => {
  const path = join(folder, 'a.sock');
  const one = await add({ port: 0, listen: `${path},0666`, remark: 'one' });
  t.is(one.status, 200, one.text);
  t.is(one.body.obj.tag, 'in-0-tcp');
  const taken = await add({ port: 443, listen: path });
  t.is(taken.body.code, 'INBOUNDS_PORT_TAKEN');
  t.is(taken.body.msg, `the socket ${path} is taken by inbound #${one.body.obj.id} (one)`);
  t.is((await add({ port: 0, listen: '@weir-test' })).status, 200);
  t.is((await add({ port: 0, listen: '@@weir-test' })).body.code, 'INBOUNDS_PORT_TAKEN');
  t.is((await add({ port: 443, listen: join(folder, 'b.sock') })).status, 200, 'its port is for links');

  await mkdir(join(folder, 'deep'));
  await symlink(panel.dataDirectory, join(folder, 'to-data'));
  await symlink('/etc', join(folder, 'to-etc'));
  await writeFile(join(folder, 'file'), 'text');
  await writeFile(join(folder, 'locked.lock'), 'text');
  t.is((await add({ port: 0, listen: join(folder, 'deep', 'c.sock') })).status, 200);
  await refusedListen(t, join(panel.dataDirectory, 'engine', 'api.sock'), /data folder|does not exist/);
  await refusedListen(t, join(folder, 'to-data', 'x.sock'), /in the panel's data folder/);
  await refusedListen(t, join(folder, 'to-etc', 'x.sock'), /outside the folders for sockets/);
  await refusedListen(t, '/etc/x.sock', /outside the folders for sockets .* WEIR_SOCKET_DIRS/);
  await refusedListen(t, join(folder, 'none', 'x.sock'), /does not exist; create it/);
  await refusedListen(t, `${folder}/deep/../x.sock`, /must be written as/);
  await refusedListen(t, join(folder, 'file'), /is a file/);
  await refusedListen(t, join(folder, 'locked'), /locked\.lock is in the way/);
  await refusedListen(t, join(folder, 'x'.repeat(100)), /at most 100 bytes/);
  await refusedListen(t, '@weir.core', /belong to the panel/);
  await refusedListen(t, join(folder, 'u.sock'), /carries no UDP/, KCP);
  await refusedListen(t, join(folder, 's.sock'), /does not serve shadowsocks on a Unix socket/, ss());
  await refusedListen(t, '127.0.0.1', /0 is for inbounds that listen on a Unix socket/);

  const busy = join(folder, 'busy.sock');
  const program = createServer().listen(busy);
  await once(program, 'listening');
  t.teardown(() => program.close());
  t.is((await add({ port: 0, listen: busy, enable: true })).body.code, 'INBOUNDS_PORT_IN_USE');
});

test('streamSettings are in normal form, and empty where a protocol has none', async (t) => {
  const settings = async (body: object) =>
    (await add({ port: await freePort(), ...body })).body.obj.streamSettings;
  t.deepEqual(
    await settings({ streamSettings: { method: 'ws', network: 'grpc', wsSettings: { path: '/x' } } }),
    {
      network: 'ws',
      wsSettings: { path: '/x' },
    },
  );
  t.deepEqual(await settings({ ...mixed(false), streamSettings: { network: 'ws', security: 'tls' } }), {});
});

test('masks with which the core would fail later are refused', async (t) => {
  const issues = async (streamSettings: object) =>
    (await add({ port: await freePort(), streamSettings })).body.msg;
  const privateKey = 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo';
  const reality = {
    security: 'reality',
    realitySettings: { target: '1.1.1.1:443', serverNames: ['x.example'], privateKey, shortIds: [''] },
  };
  const fragment = { type: 'fragment', settings: { packets: 'tlshello', length: '1-3' } };
  t.regex(
    await issues({ ...reality, finalmask: { tcp: [fragment] } }),
    /masks for TCP crash the core together with reality/,
  );
  t.regex(await issues({ ...reality, finalmask: { udp: [{ type: 'salamander' }] } }), /^inbound added/);
  const profile = {
    username: 'Steve_1',
    uuid: '11111111-2222-4333-8444-555555555555',
    texturesValue: 'v',
    texturesSignature: 's',
  };
  const xmc = (...profiles: object[]) => ({ finalmask: { tcp: [{ type: 'xmc', settings: { profiles } }] } });
  t.regex(await issues(xmc()), /finalmask\.tcp\.0\.settings\.profiles: a mask xmc needs a profile/);
  for (const wrong of [
    { username: 'x' },
    { uuid: 'x' },
    { texturesValue: '' },
    { texturesSignature: undefined },
  ])
    t.regex(await issues(xmc({ ...profile, ...wrong })), /a mask xmc needs a profile/);
  t.regex(await issues(xmc({}, profile)), /^inbound added/);
});
