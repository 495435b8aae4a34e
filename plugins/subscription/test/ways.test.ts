// Plugins that do what hosts and nodes do: change entries, each at its own risk.
import { setImmediate } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, tap, type Plugin } from '../../../kernel/index.js';
import { FakeEngine, selfSigned, TestPanel, until } from '../../../test/harness/index.js';
import { Clients } from '../../clients/contract.js';
import { type EntryTemplate, isOf } from '../../inbounds/contract.js';
import { composeSubscription, inboundEntry, Subscription, type Way } from '../contract.js';

const U = '11111111-2222-4333-8444-555555555555';

/** A plugin that adds ways to each inbound. */
const ways = (name: string, make: (entry: EntryTemplate) => readonly unknown[]): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [tap(composeSubscription, (add, { entry }) => add(...(make(entry) as Way[])))],
  });
const changes = (name: string, change: (entry: EntryTemplate) => unknown): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [tap(inboundEntry, (entry) => change(entry) as EntryTemplate)],
  });

const tlsSettings = () => {
  const { cert, key } = selfSigned();
  return {
    serverName: 'base.sni',
    settings: { fingerprint: 'chrome', echConfigList: 'ECH' },
    certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }],
  };
};

/** Links of a client on an inbound over ws with TLS, unless it says otherwise. */
async function linksWith(t: ExecutionContext, plugins: readonly Plugin[], streamSettings?: object) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: plugins });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '' },
  });
  const inbound = await panel.addInbound({
    remark: 'n',
    shareAddr: '203.0.113.1',
    shareAddrStrategy: 'custom',
    streamSettings: streamSettings ?? {
      network: 'ws',
      wsSettings: { path: '/base', host: 'base.host' },
      security: 'tls',
      tlsSettings: tlsSettings(),
    },
  });
  await panel.addClient('n', [inbound], { uuid: U, subId: 'n' });
  const answer = await fetch(`${panel.subscriptionUrl}/s/n`);
  const faults = panel.log
    .map((line) => JSON.parse(line) as { msg: string; plugin?: string })
    .flatMap(({ msg, plugin }) => (msg === 'plugin fault' ? [plugin ?? ''] : []));
  const { port } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${inbound}`);
  const links = (await answer.text()).trim().replaceAll(`:${port}?`, ':443?').split('\n');
  return { panel, status: answer.status, links, faults };
}

const BASE = `vless://${U}@203.0.113.1:443?ech=ECH&encryption=none&fp=chrome&host=base.host&path=%2Fbase&security=tls&sni=base.sni&type=ws#n-n`;

test('ways take the place of the inbound, each with what it overrides', async (t) => {
  const { links, faults } = await linksWith(t, [
    ways('more-hosts', (entry) => {
      const { transport, security } = entry;
      if (transport.kind !== 'ws' || security.kind !== 'tls') return [];
      return [
        {
          hostRemark: 'A',
          entry: {
            ...entry,
            server: 'a.cdn.com',
            port: 2096,
            transport: { ...transport, host: 'a.host', path: '/a' },
            security: { ...security, serverName: 'a.sni' },
          },
        },
        {
          hostRemark: 'plain',
          entry: { ...entry, server: '2001:db8::1', port: 80, security: { kind: 'none' } },
        },
        { hostRemark: 'AI', entry: { ...entry, security: { ...security, allowInsecure: true } } },
        { hostRemark: 'route', entry: { ...entry, vlessRoute: 443 } },
        {
          hostRemark: 'cut',
          entry: {
            ...entry,
            finalMask: {
              tcp: [{ kind: 'fragment', packets: 'tlshello', length: '100-200', delay: '10-20' }],
            },
          },
        },
        { hostRemark: '', entry: { ...entry, description: 'Fast Server' } },
      ];
    }),
  ]);
  t.deepEqual(faults, []);
  const rest = 'encryption=none&fp=chrome';
  const there = 'host=base.host&path=%2Fbase&security=tls&sni=base.sni&type=ws';
  t.deepEqual(links, [
    `vless://${U}@a.cdn.com:2096?ech=ECH&${rest}&host=a.host&path=%2Fa&security=tls&sni=a.sni&type=ws#n-A-n`,
    // Nothing of TLS is left.
    `vless://${U}@[2001:db8::1]:80?encryption=none&host=base.host&path=%2Fbase&security=none&type=ws#n-plain-n`,
    `vless://${U}@203.0.113.1:443?allowInsecure=1&ech=ECH&${rest}&${there}#n-AI-n`,
    `vless://11111111-2222-01bb-8444-555555555555@203.0.113.1:443?ech=ECH&${rest}&${there}#n-route-n`,
    `vless://${U}@203.0.113.1:443?ech=ECH&encryption=none&fm=%7B%22tcp%22%3A%5B%7B%22settings%22%3A%7B%22delay%22%3A%2210-20%22%2C%22length%22%3A%22100-200%22%2C%22packets%22%3A%22tlshello%22%7D%2C%22type%22%3A%22fragment%22%7D%5D%7D&fp=chrome&${there}#n-cut-n`,
    `vless://${U}@203.0.113.1:443?ech=ECH&${rest}&${there}#n-n?serverDescription=RmFzdCBTZXJ2ZXI=`,
  ]);
});

test('a way with REALITY keeps what follows from the client', async (t) => {
  const { links, faults } = await linksWith(
    t,
    [
      ways('more-hosts', (entry) =>
        entry.security.kind === 'reality'
          ? [
              {
                hostRemark: 'RL',
                entry: {
                  ...entry,
                  server: 'rl.cdn.com',
                  security: { ...entry.security, serverName: 'host.reality.com', fingerprint: 'firefox' },
                },
              },
            ]
          : [],
      ),
    ],
    {
      network: 'tcp',
      security: 'reality',
      realitySettings: {
        target: 'r.example.com:443',
        serverNames: ['r.example.com'],
        shortIds: ['abcd'],
        privateKey: 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo',
        settings: { publicKey: 'PBK' },
      },
    },
  );
  t.deepEqual(faults, []);
  t.regex(
    links[0] ?? '',
    /@rl\.cdn\.com:443\?encryption=none&fp=firefox&pbk=PBK&security=reality&sid=abcd&sni=host\.reality\.com&spx=%2F[0-9a-f]{15}&type=tcp#n-RL-n$/,
  );
});

test('a node changes the address of the inbound, and hosts begin with that', async (t) => {
  const { links, faults } = await linksWith(t, [
    changes('own-nodes', (entry) => ({ ...entry, server: 'node7.example.com' })),
    ways('more-hosts', (entry) => [{ hostRemark: 'B', entry: { ...entry, port: 8443 } }]),
  ]);
  t.deepEqual(faults, []);
  t.is(links.length, 1);
  t.true(links[0]?.startsWith(`vless://${U}@node7.example.com:8443?`), links[0]);
});

test('a way that stands in no list of links replaces the inbound there too', async (t) => {
  let servers = (): readonly string[] => [];
  const reader = definePlugin({
    name: 'reader',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    uses: { clients: Clients, subscription: Subscription },
    start: ({ clients, subscription }) => {
      servers = () =>
        [...clients.all()].flatMap((client) =>
          subscription.proxies(client, 'h.example').map(({ server }) => server),
        );
    },
  });
  const { links, panel } = await linksWith(t, [
    reader,
    ways('more-hosts', (entry) => [
      { hostRemark: 'C', entry: { ...entry, server: 'c.example' }, notIn: ['links'] },
    ]),
  ]);
  t.deepEqual(links, ['']);
  t.deepEqual(await panel.get<string[]>('/panel/api/clients/links/n'), []);
  t.deepEqual(servers(), ['c.example']);
});

const WRONG: Readonly<Record<string, (entry: EntryTemplate) => unknown>> = {
  'a port out of range': (entry) => ({ ...entry, port: 70_000 }),
  'a server that would break out of a link': (entry) => ({ ...entry, server: 'a/b@c' }),
  'an unknown transport': (entry) => ({ ...entry, transport: { kind: 'pigeon' } }),
  'a transport without its fields': (entry) => ({ ...entry, transport: { kind: 'grpc' } }),
  'no security': ({ security: _, ...entry }) => entry,
  'an unknown mask': (entry) => ({ ...entry, finalMask: { tcp: [{ kind: 'sand' }] } }),
  'an account without its fields': (entry) => ({ ...entry, account: { protocol: 'vless' } }),
  'a function of its own': (entry) =>
    isOf(entry, 'vless') ? { ...entry, account: { ...entry.account, id: () => 'weeds' } } : entry,
  'a promise': async (entry) => entry,
  nothing: () => undefined,
  'an error': () => {
    throw new Error('weeds');
  },
};
for (const [what, change] of Object.entries(WRONG))
  test(`who makes ${what} of an entry is named, and only what it did is left out`, async (t) => {
    const { links, status, faults } = await linksWith(t, [
      ways('bad-host', (entry) => [{ hostRemark: 'bad', entry: change(entry) }]),
      changes('bad-node', change),
      ways('good-host', (entry) => [{ hostRemark: 'good', entry: { ...entry, server: 'good.example' } }]),
    ]);
    t.is(status, 200);
    t.is(links.length, 1);
    t.true(links[0]?.startsWith(`vless://${U}@good.example:443?`), links[0]);
    t.deepEqual([...new Set(faults)].sort(), ['bad-host', 'bad-node']);
  });

test('who changes the entry in place changes nothing', async (t) => {
  const { links, faults } = await linksWith(t, [
    changes('vandal', (entry) => Object.assign(entry.transport, { path: '/weeds' }) && entry),
  ]);
  t.deepEqual(links, [BASE]);
  t.deepEqual([...new Set(faults)], ['vandal']);
});

/** A panel with an inbound, and a plugin that says its first answer about it after `first`; each is numbered. */
async function slowPanel(t: ExecutionContext, first: Promise<unknown>, tapLimit: number) {
  let asked = 0;
  const slow = definePlugin({
    name: 'slow',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [
      tap(composeSubscription, async (add, { entry }) => {
        const number = ++asked;
        if (number === 1) await first;
        add({ hostRemark: `answer${number}`, entry });
      }),
    ],
  });
  const plugins = [new FakeEngine().plugin];
  const panel = await TestPanel.boot({ plugins, outside: [slow], limits: { tap: tapLimit } });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '' },
  });
  // On loopback alone it could be behind another inbound, which asks once more.
  const inbound = await panel.addInbound({ listen: '' });
  await panel.addClient('n', [inbound], { subId: 'n' });
  return { panel, inbound, list: async () => (await fetch(`${panel.subscriptionUrl}/s/n`)).text() };
}

test('a plugin that never answers is at fault alone; the inbound is served without it', async (t) => {
  const { panel, list } = await slowPanel(t, new Promise(() => undefined), 1500);
  await until(async () => (await list()).startsWith('vless://'), 'the inbound is served');
  t.deepEqual(
    panel.faults.map((fault) => fault.split(',')[0]),
    ['slow'],
  );
});

test('an answer that comes after a later one is dropped', async (t) => {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { panel, inbound, list } = await slowPanel(t, gate, 60_000);
  await panel.get(`/panel/api/inbounds/update/${inbound}`, { body: { remark: 'new' } });
  t.regex(await list(), /answer2/);
  open();
  await setImmediate();
  t.regex(await list(), /answer2/);
  t.deepEqual(panel.faults, []);
});
