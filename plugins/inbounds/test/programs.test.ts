// Protocols that a program of their own runs: the core gets nothing of them, and everything else goes on.
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeEngine, freePort, refused, TestPanel } from '../../../test/harness/index.js';
import { ProtocolPrograms } from '../contract.js';

const API = '/panel/api/inbounds';
const DOMAIN = Buffer.from('www.cloudflare.com').toString('hex');
const KEY = '-----BEGIN PRIVATE KEY-----\nsecret';
let engine: FakeEngine;
let panel: TestPanel;
/** what the program of tuic answers; without one it fails */
let state: string | undefined = 'running';

const tuicProgram = definePlugin({
  name: 'tuic-program',
  version: '0.0.0',
  api: 1,
  about: 'A program of tuic that does nothing, for tests.',
  contributes: () => [
    contribute(ProtocolPrograms, {
      protocol: 'tuic',
      state: () => {
        if (state === undefined) throw new Error('out of order');
        return state;
      },
    }),
  ],
});

test.before(async () => {
  engine = new FakeEngine();
  panel = await TestPanel.boot({ plugins: [engine.plugin, tuicProgram], without: ['mtproto'] });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

interface Shown {
  readonly id: number;
  readonly state: string;
  readonly settings: Record<string, unknown> & { clients: Record<string, unknown>[] };
}
const add = async (body: object) => {
  const answer = await panel.call<Shown>(`${API}/add`, {
    body: { listen: '127.0.0.1', port: await freePort(), ...body },
  });
  if (!answer.body.success) throw new Error(answer.text);
  return answer.body;
};
const shown = (id: number) => panel.get<Shown>(`${API}/get/${id}`);
const secretOf = async (email: string): Promise<string> =>
  (await panel.get<{ secret: string }>(`/panel/api/clients/get/${email}`)).secret;

test.serial(
  'an inbound without a program is saved and says so; the core gets neither it nor its users',
  async (t) => {
    const { msg, obj } = await add({ protocol: 'mtproto', remark: 'for a messenger' });
    t.is(msg, 'inbound added; not running: no program for mtproto');
    t.is(obj.state, 'not running: no program for mtproto');
    const [row] = await panel.get<Shown[]>(`${API}/list`);
    t.is(row?.state, 'not running: no program for mtproto');
    const vless = await panel.addInbound();
    t.is((await shown(vless)).state, '');

    await panel.addClient('m', [obj.id, vless]);
    t.deepEqual(
      [...engine.users.keys()].map((name) => name.split('.')[0]),
      [`i${vless}`],
    );
    t.deepEqual(engine.inbounds.length, 1);
    const update = await panel.call(`${API}/update/${obj.id}`, { body: { remark: 'other' } });
    t.is(update.body.msg, 'inbound saved; not running: no program for mtproto');
    await panel.get(`${API}/setEnable/${obj.id}`, { body: { enable: false } });
    const on = await panel.call(`${API}/setEnable/${obj.id}`, { body: { enable: true } });
    t.is(on.body.msg, 'inbound enabled; not running: no program for mtproto');
    const { openConnections } = (await shown(obj.id)) as unknown as {
      openConnections: { end: boolean; reason: string };
    };
    t.false(openConnections.end);
    t.regex(openConnections.reason, /a program of its own runs it/);
  },
);

test.serial('a program says how it is doing; a failing one costs nothing else', async (t) => {
  const { obj, msg } = await add({ protocol: 'tuic', settings: { server: { private_key: KEY } } });
  t.deepEqual([obj.state, msg], ['running', 'inbound added']);
  state = undefined;
  t.is((await shown(obj.id)).state, 'not running: the plugin tuic-program failed; the log says why');
  t.true(panel.faults.some((fault) => fault.includes('state of the program of tuic')));
  state = 'running';
  await panel.get(`${API}/setEnable/${obj.id}`, { body: { enable: false } });
  t.is((await shown(obj.id)).state, 'not running: the inbound is disabled');
});

test.serial('the choice of inbounds shows what client programs need, and no key', async (t) => {
  const { obj: own } = await add({ protocol: 'mtproto', settings: { fakeTlsDomain: 'shop.example' } });
  const { obj: tuic } = await add({
    protocol: 'tuic',
    settings: { server: { sni: 's.example', private_key: KEY } },
  });
  const options = await panel.get<Record<string, unknown>[]>(`${API}/options`);
  t.like(
    options.find(({ id }) => id === own.id),
    { mtprotoDomain: 'shop.example', tuicServer: null },
  );
  t.deepEqual(options.find(({ id }) => id === tuic.id)?.['tuicServer'], { sni: 's.example' });
  t.false(JSON.stringify(options).includes('secret'));
});

test.serial('a client has a secret in each inbound, in the one valid form', async (t) => {
  const { obj: one } = await add({ protocol: 'mtproto' });
  const { obj: two } = await add({ protocol: 'mtproto', settings: { fakeTlsDomain: 'shop.example' } });
  await panel.addClient('both', [one.id, two.id]);
  const { credentials } = await panel.get<{ credentials: { inboundId: number; secret: string }[] }>(
    '/panel/api/clients/get/both',
  );
  const secrets = new Map(credentials.map(({ inboundId, secret }) => [inboundId, secret]));
  t.regex(secrets.get(one.id) ?? '', new RegExp(`^ee[0-9a-f]{32}${DOMAIN}$`));
  t.regex(
    secrets.get(two.id) ?? '',
    new RegExp(`^ee[0-9a-f]{32}${Buffer.from('shop.example').toString('hex')}$`),
  );
  t.not(secrets.get(one.id)?.slice(2, 34), secrets.get(two.id)?.slice(2, 34));
  const [first = ''] = await panel.get<string[]>('/panel/api/clients/links/both');
  t.regex(first, new RegExp(`^tg://proxy\\?port=\\d+&secret=${secrets.get(one.id)}&server=127\\.0\\.0\\.1$`));

  const middle = '0123456789abcdef0123456789abcdef';
  const site = Buffer.from('site.example').toString('hex');
  for (const [sent, stored] of [
    [middle, `ee${middle}${DOMAIN}`],
    [`dd${middle}`, `ee${middle}${DOMAIN}`],
    [`EE${middle.toUpperCase()}${site}`, `ee${middle}${site}`],
    [`ee${middle}`, `ee${middle}${DOMAIN}`],
    [`ee${middle}ff00`, `ee${middle}${DOMAIN}`],
    ['', `ee${middle}${DOMAIN}`],
  ] as const) {
    await panel.get('/panel/api/clients/update/m', { body: { secret: sent } });
    t.is(await secretOf('m'), stored, sent);
  }
  await panel.get('/panel/api/clients/update/m', { body: { secret: 'rubbish' } });
  const made = await secretOf('m');
  t.regex(made, new RegExp(`^ee[0-9a-f]{32}${DOMAIN}$`));
  t.not(made.slice(2, 34), middle);
});

test.serial('no two clients of an inbound have one secret, whatever its site', async (t) => {
  const { obj } = await add({ protocol: 'mtproto' });
  const middle = 'a'.repeat(32);
  await panel.addClient('first', [obj.id], { secret: middle });
  await refused(
    t,
    panel,
    '/panel/api/clients/add',
    {
      body: {
        client: {
          email: 'second',
          secret: `ee${middle.toUpperCase()}${Buffer.from('b.example').toString('hex')}`,
        },
        inboundIds: [obj.id],
      },
    },
    { status: 409, code: 'CLIENTS_CREDENTIAL_TAKEN', field: 'client.secret' },
  );
});

test.serial("an inbound keeps no secret, and its port to the core is the panel's own", async (t) => {
  const { obj } = await add({
    protocol: 'mtproto',
    streamSettings: { network: 'ws', security: 'none' },
    settings: {
      secret: 'ee00',
      adTag: 'old',
      routeThroughEngine: true,
      outboundTag: 'out',
      routeEnginePort: 1,
    },
  });
  const { settings } = await shown(obj.id);
  t.deepEqual(
    ['secret', 'adTag'].filter((key) => key in settings),
    [],
  );
  t.is(settings['outboundTag'], 'out');
  const port = Number(settings['routeEnginePort']);
  t.true(port > 1024);
  await panel.get(`${API}/update/${obj.id}`, {
    body: { settings: { routeThroughEngine: true, outboundTag: 'out', routeEnginePort: 2, debug: true } },
  });
  t.like((await shown(obj.id)).settings, { routeEnginePort: port, debug: true });
  await panel.get(`${API}/update/${obj.id}`, {
    body: { settings: { routeThroughEngine: false, outboundTag: 'out', routeEnginePort: port } },
  });
  const after = (await shown(obj.id)).settings;
  t.deepEqual(
    ['outboundTag', 'routeEnginePort'].filter((key) => key in after),
    [],
  );
});

const WRONG: readonly (readonly [protocol: string, settings: object, field: string])[] = [
  ['mtproto', { fakeTlsDomain: 'a b' }, 'settings.fakeTlsDomain'],
  ['mtproto', { fakeTlsDomain: `${'a'.repeat(60)}.`.repeat(4) }, 'settings.fakeTlsDomain'],
  ['mtproto', { preferIp: 'ipv6' }, 'settings.preferIp'],
  ['mtproto', { debug: 'yes' }, 'settings.debug'],
  ['mtproto', { domainFronting: { port: 65_536 } }, 'settings.domainFronting.port'],
  ['mtproto', { domainFronting: { ip: 'name.example' } }, 'settings.domainFronting.ip'],
  ['mtproto', { throttleMaxConnections: -1 }, 'settings.throttleMaxConnections'],
  ['mtproto', { publicIpv4: '::1' }, 'settings.publicIpv4'],
  ['mtproto', { publicIpv6: '1.2.3.4' }, 'settings.publicIpv6'],
  ['mtproto', { domainFronting: { ip: '127.0.0.1', port: 8080 } }, 'settings.domainFronting.ip'],
  ['mtproto', { domainFronting: { ip: '10.0.0.1' } }, 'settings.domainFronting.ip'],
  ['tuic', { server: { private_key: '/etc/shadow' } }, 'settings.server.private_key'],
  ['tuic', { server: { certificate: 'cert.pem' } }, 'settings.server.certificate'],
  ['tuic', {}, 'settings.server'],
  ['tuic', { server: { congestion_control: 'brutal' } }, 'settings.server.congestion_control'],
  ['tuic', { server: { udp_relay_mode: 'tcp' } }, 'settings.server.udp_relay_mode'],
  ['tuic', { server: { alpn: 'h3' } }, 'settings.server.alpn'],
  ['tunnel', { allowedNetwork: 'unix' }, 'settings.allowedNetwork'],
  ['tunnel', { network: 'unix' }, 'settings.network'],
  ['tunnel', { rewritePort: 0 }, 'settings.rewritePort'],
  ['tunnel', { rewriteAddress: 'a b' }, 'settings.rewriteAddress'],
  ['tunnel', { portMap: { 80: '/run/x.sock' } }, 'settings.portMap.80'],
  ['tunnel', { portMap: { 80: 'host:' } }, 'settings.portMap.80'],
  ['tun', { name: 'a/b' }, 'settings.name'],
  ['tun', { name: 'x'.repeat(16) }, 'settings.name'],
  ['tun', { mtu: -1 }, 'settings.mtu'],
  ['tun', { dns: 'one' }, 'settings.dns'],
  ['hysteria', { version: 'two' }, 'settings.version'],
];
test.serial('wrong settings are refused with the name of the field', async (t) => {
  for (const [protocol, settings, field] of WRONG)
    await refused(
      t,
      panel,
      `${API}/add`,
      {
        body: {
          protocol,
          listen: '127.0.0.1',
          port: protocol === 'tun' ? 0 : await freePort(),
          settings,
          streamSettings: {},
        },
      },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
});

test.serial('hysteria goes over its own network alone, with TLS; nothing else goes over it', async (t) => {
  for (const [protocol, streamSettings] of [
    ['hysteria', {}],
    ['hysteria', { network: 'ws' }],
    ['hysteria', { network: 'hysteria' }],
    ['vless', { network: 'hysteria' }],
    ['tunnel', { network: 'ws' }],
  ] as const)
    await refused(
      t,
      panel,
      `${API}/add`,
      { body: { protocol, listen: '127.0.0.1', port: await freePort(), streamSettings } },
      { status: 400, code: 'KERNEL_INVALID', field: 'streamSettings.network' },
    );
});

test.serial('the core restarts for an interface that it must lose, and for nothing else', async (t) => {
  const { obj } = await add({ protocol: 'tun', port: 0, settings: { name: 'weirtest0' } });
  const restarts = async (path: string, body: object): Promise<number> => {
    const before = engine.restarts.length;
    await panel.get(`${API}/${path}/${obj.id}`, { body });
    return engine.restarts.length - before;
  };
  t.is(await restarts('update', { remark: 'renamed' }), 0);
  t.is(await restarts('update', { settings: { name: 'weirtest0', mtu: 1300 } }), 1);
  t.is(await restarts('setEnable', { enable: false }), 1);
  t.is(await restarts('update', { settings: { name: 'weirtest0', mtu: 1200 } }), 0);
  t.is(await restarts('setEnable', { enable: true }), 0);
  engine.running = false;
  t.is(await restarts('update', { settings: { name: 'weirtest0', mtu: 1100 } }), 0);
  engine.running = true;
  t.is(await restarts('update', { protocol: 'vless', port: await freePort(), settings: {} }), 1);
  t.is(await restarts('del', {}), 0);
});

test.serial(
  'bulkAdjust sets and clears the ad tag of those who use one, and a limit of devices',
  async (t) => {
    const vless = await panel.addInbound();
    const { obj } = await add({ protocol: 'mtproto' });
    await panel.addClient('tagged', [obj.id]);
    await panel.addClient('other', [vless]);
    const adjust = (body: object) =>
      panel.get<{ adjusted: number; skipped: { email: string; reason: string }[] }>(
        '/panel/api/clients/bulkAdjust',
        { body: { emails: ['tagged', 'other'], ...body } },
      );
    const client = (email: string) =>
      panel.get<{ adTag: string; limitHwid: number }>(`/panel/api/clients/get/${email}`);
    const TAG = '0123456789abcdef0123456789ABCDEF';
    const { adjusted, skipped } = await adjust({ adTag: TAG });
    t.is(adjusted, 1);
    t.deepEqual(
      skipped.map(({ email, reason }) => [email, reason]),
      [['other', 'none of its inbounds uses an ad tag']],
    );
    t.is((await client('tagged')).adTag, TAG);
    await adjust({ addDays: 0, limitHwid: 3, adTag: '' });
    t.like(await client('tagged'), { adTag: TAG, limitHwid: 3 });
    await adjust({ limitHwid: 0 });
    t.like(await client('other'), { limitHwid: 0 });
    t.is((await adjust({ adTag: 'none' })).adjusted, 2);
    t.is((await client('tagged')).adTag, '');
    for (const adTag of ['x', 'NONE ', 5, null])
      await refused(
        t,
        panel,
        '/panel/api/clients/bulkAdjust',
        { body: { emails: ['tagged'], adTag } },
        { status: 400, code: 'KERNEL_INVALID', field: 'adTag' },
      );
  },
);

test.serial('the cipher of VMess is in the link; older values mean auto', async (t) => {
  const id = await panel.addInbound({ protocol: 'vmess' });
  await panel.addClient('v', [id], { security: 'chacha20-poly1305' });
  const cipher = async () => {
    const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/v');
    return (JSON.parse(Buffer.from(link.slice(8), 'base64').toString()) as { scy: string }).scy;
  };
  t.is(await cipher(), 'chacha20-poly1305');
  for (const security of ['none', 'zero', '']) {
    await panel.get('/panel/api/clients/update/v', { body: { security: 'aes-128-gcm' } });
    t.is(await cipher(), 'aes-128-gcm');
    await panel.get('/panel/api/clients/update/v', { body: { security } });
    t.is(await cipher(), 'auto', security);
  }
});
