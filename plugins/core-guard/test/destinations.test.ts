// Where fallbacks and REALITY may lead to, over the API of a whole panel.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import test from 'ava';
import { FakeClock, FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';
import { inboundAt } from '../inbound-at.js';

const NAMED = ['127.0.0.1:8080', '10.1.2.3:80', '/run/web.sock', '@web'];
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(),
    env: { WEIR_FALLBACK_DESTINATIONS: NAMED.join(', ') },
  });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const privateKey = 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo';
const reality = (settings: object) => ({
  security: 'reality',
  realitySettings: { serverNames: ['example.com'], shortIds: [''], privateKey, ...settings },
});
const fallback = (dest: unknown, more: object = {}) => ({ settings: { fallbacks: [{ dest, ...more }] } });

async function refuse(
  t: Parameters<typeof refused>[0],
  field: string,
  body: object,
  says?: string,
): Promise<void> {
  await refused(
    t,
    panel,
    '/panel/api/inbounds/add',
    { body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), ...body } },
    { status: 400, code: 'KERNEL_INVALID', field, ...(says !== undefined && { says }) },
  );
}
const DEST = 'settings.fallbacks.0.dest';
const panelPort = () => panel.kernel.listeners.panel.port;
const subscriptionPort = () => panel.kernel.listeners.port('subscription');

test.serial('rejects ports of the panel in every notation', async (t) => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  for (const port of [panelPort(), subscriptionPort()])
    for (const dest of [
      port,
      `${port}`,
      `:${port}`,
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST.:${port}`,
      `panel.localhost:${port}`,
      `[::1]:${port}`,
      `[0:0:0:0:0:0:0:1]:${port}`,
      `[::1%lo]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `[::ffff:7f00:1]:${port}`,
      `[::127.0.0.1]:${port}`,
      `[64:ff9b::7f00:1]:${port}`,
      `[2002:7f00:1::]:${port}`,
      `[::]:${port}`,
      `0.0.0.0:${port}`,
      `0:${port}`,
      `127.1:${port}`,
      `127.9.9.9:${port}`,
      `2130706433:${port}`,
      `0x7f000001:${port}`,
      `0x7f.1:${port}`,
      `0177.0.0.1:${port}`,
      `anything.example:${port}`,
      ...(outer === undefined ? [] : [`${outer}:${port}`]),
    ])
      await refuse(t, DEST, fallback(dest), port === panelPort() ? "the panel's own" : 'subscription');
  await refuse(t, DEST, { protocol: 'trojan', ...fallback(panelPort()) }, "the panel's own");
  for (const key of ['target', 'dest', 'Target'])
    await refuse(
      t,
      `streamSettings.realitySettings.${key}`,
      { streamSettings: reality({ target: 'example.com:443', [key]: `127.0.0.1:${panelPort()}` }) },
      "the panel's own",
    );
});

test.serial('unusual destinations that Go might accept are refused', async (t) => {
  for (const dest of [
    `localhost:+${panelPort()}`,
    `localhost:0${panelPort()}`,
    'localhost:http',
    '70000',
    0,
    1.5,
    '127.0.0.1:',
    '256.1.1.1:80',
    '0x7g.1:80',
    'unix:/run/web.sock',
    'unix//run/web.sock',
    '１２７.0.0.1:80',
    { port: 1 },
    [panelPort()],
  ])
    await refuse(t, DEST, fallback(dest), 'not a valid destination');
  await refuse(t, DEST, fallback('127.0.0.1:8080', { type: 'udp' }), 'not a valid destination');
});

test.serial('sockets are refused but those that are named, and never one in the data folder', async (t) => {
  const { dataDirectory } = panel;
  for (const path of [
    `${dataDirectory}/panel.sock`,
    `${dataDirectory}/engine/api.sock`,
    '/run/other.sock',
    '/proc/self/cwd/x.sock',
    '@other',
    '@@other',
  ]) {
    await refuse(t, DEST, fallback(path), 'WEIR_FALLBACK_DESTINATIONS');
    await refuse(t, 'streamSettings.realitySettings.target', {
      streamSettings: reality({ target: path }),
    });
  }
  await refuse(t, DEST, fallback('../panel.sock', { type: 'unix' }), 'Unix socket');
  await refuse(t, 'settings.Fallbacks.0.DEST', {
    settings: { Fallbacks: [{ DEST: `${dataDirectory}/panel.sock` }] },
  });
});

test.serial('rejects local and private destinations until they are named, and says how', async (t) => {
  for (const dest of [
    8081,
    '127.0.0.1:8081',
    '10.1.2.3:81',
    '192.168.1.1:80',
    '169.254.169.254:80',
    '168.63.129.16:80',
    '[fd00::1]:80',
    '[fe80::1%eth0]:80',
    '[::ffff:10.9.9.9]:80',
    '[64:ff9b::a09:909]:80',
    // One list with the core's rules: IPv4-translated, site-local, and the relays of 6to4.
    '[::ffff:0:7f00:1]:80',
    '[fec0::1]:80',
    '192.88.99.1:80',
  ])
    await refuse(t, DEST, fallback(dest), 'name it in WEIR_FALLBACK_DESTINATIONS');
  await refuse(
    t,
    'streamSettings.realitySettings.target',
    { streamSettings: reality({ target: 8443 }) },
    'name it in WEIR_FALLBACK_DESTINATIONS',
  );
});

test.serial('accepts named, public and missing destinations, and our own inbounds', async (t) => {
  const child = await freePort();
  await panel.addInbound({ port: child, remark: 'child' });
  for (const dest of [
    8080,
    'localhost:8080',
    '[::1]:8080',
    '10.1.2.3:80',
    '[::ffff:10.1.2.3]:80',
    '/run/web.sock',
    '@web',
    child,
    `127.0.0.1:${child}`,
    '1.1.1.1:80',
    '[2606:4700::1111]:80',
    'www.example.com:80',
    'serve-ws-none',
    '',
  ])
    t.true((await panel.addInbound(fallback(dest, { xver: 1 }))) > 0, String(dest));
  await panel.addInbound({ streamSettings: reality({ target: 'www.example.com:443' }) });
  await panel.addInbound({
    streamSettings: { wsSettings: { headers: { dest: '/x', Dest: '/y' } }, network: 'ws' },
  });
});

test.serial("allows an inbound's own address, only while it is enabled", async (t) => {
  const port = await freePort();
  const id = await panel.addInbound({ port, remark: 'off', enable: false });
  await refuse(t, DEST, fallback(port), 'is on this machine');
  const parent = await freePort();
  await panel.get(`/panel/api/inbounds/setEnable/${id}`, { body: { enable: true } });
  const parentId = await panel.addInbound({ port: parent, ...fallback(port) });
  for (const dest of [`127.0.0.9:${port}`, `[::1]:${port}`])
    await refuse(t, DEST, fallback(dest), 'is on this machine');
  await panel.get(`/panel/api/inbounds/setEnable/${id}`, { body: { enable: false } });
  await panel.get(`/panel/api/inbounds/update/${parentId}`, {
    body: { remark: 'goes on', ...fallback(port) },
  });
});

test.serial('two keys that the core takes for one are refused', async (t) => {
  await refuse(t, 'settings.Fallbacks', {
    settings: { fallbacks: [], Fallbacks: [{ dest: '1.1.1.1:80' }] },
  });
  // Of these the panel writes the other one.
  await refuse(t, 'settings.decryption', { settings: { Decryption: 'none' } }, 'another one of this object');
  await refuse(t, 'settings.Clients', { settings: { Clients: [{ id: 'x' }] } }, 'which the panel writes');
  for (const [key, value] of [
    ['Network', 'kcp'],
    ['Security', 'tls'],
  ])
    await refuse(
      t,
      `streamSettings.${key}`,
      { streamSettings: { [key as string]: value } },
      'another one of this object',
    );
});

test.serial("the panel's own tags are refused", async (t) => {
  for (const tag of ['weir.api', 'weir.dns', 'weir.udp.direct'])
    await refuse(t, 'tag', { tag }, 'belong to the panel');
});

test.serial(
  'an admin can import inbounds with their destinations; a program with a token cannot',
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const data = async () => ({
      data: {
        protocol: 'vless',
        listen: '127.0.0.1',
        port: await freePort(),
        remark: 'brought',
        ...fallback(port),
      },
    });
    const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'program' },
    });
    const byToken = await panel.call('/panel/api/inbounds/import', {
      anonymous: true,
      headers: { authorization: `Bearer ${token}` },
      body: await data(),
    });
    t.is(byToken.status, 400);
    t.true(byToken.body.msg.includes(`127.0.0.1:${port} is on this machine`), byToken.body.msg);

    const byPerson = await panel.call('/panel/api/inbounds/import', { body: await data() });
    t.true(byPerson.body.msg.includes(`keeps its local destinations 127.0.0.1:${port}`), byPerson.body.msg);
    const inbounds = await panel.get<{ id: number; remark: string }[]>('/panel/api/inbounds/list');
    const id = inbounds.find(({ remark }) => remark === 'brought')?.id ?? 0;
    await panel.get(`/panel/api/inbounds/update/${id}`, { body: { remark: 'as it was', ...fallback(port) } });
    const other = await panel.call(`/panel/api/inbounds/update/${id}`, { body: fallback(port + 1) });
    t.is(other.status, 400);
    const worse = await panel.call('/panel/api/inbounds/import', {
      body: { data: { protocol: 'vless', port: await freePort(), ...fallback(panelPort()) } },
    });
    t.is(worse.status, 400);
  },
);

test('rejects a name that resolves to this machine', async (t) => {
  // The one name beside localhost that every machine's own files know may be missing; then there is nothing to try.
  const { lookup } = await import('node:dns/promises');
  const { hostname } = await import('node:os');
  const found = await lookup(hostname()).catch(() => undefined);
  if (!found || /localhost/.test(hostname())) return t.pass('this machine has no name of its own');
  await refuse(t, DEST, fallback(`${hostname()}:8081`), 'which is not public');
});

test('a wrong entry of WEIR_FALLBACK_DESTINATIONS or WEIR_CERTIFICATE_DIRS is named at the start', async (t) => {
  const error = await t.throwsAsync(
    TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      env: { WEIR_FALLBACK_DESTINATIONS: '8080,local:http', WEIR_CERTIFICATE_DIRS: 'certs' },
    }),
  );
  t.regex(error?.message ?? '', /WEIR_FALLBACK_DESTINATIONS: "local:http" is neither/);
  t.regex(error?.message ?? '', /WEIR_CERTIFICATE_DIRS: "certs" is not an absolute path/);
});

test('an inbound answers at its socket, at its address, and on all addresses of its family', (t) => {
  const inbounds = [
    { listen: '/run/weir/a.sock,0666', port: 0 },
    { listen: '@name', port: 0 },
    { listen: '0.0.0.0', port: 81 },
    { listen: '::', port: 82 },
    { listen: '127.0.0.2', port: 83 },
  ];
  for (const [destination, at] of [
    ['/run/weir/a.sock', 0],
    ['@@name', 1],
    ['127.0.0.1:81', 2],
    ['[::1]:81', -1],
    ['[::1]:82', 3],
    ['127.0.0.1:82', 3],
    [83, -1],
    ['127.0.0.2:83', 4],
    ['127.0.0.2:84', -1],
  ] as const)
    t.is(inboundAt(destination, inbounds), inbounds[at], String(destination));
});
