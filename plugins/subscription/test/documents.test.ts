// Formats that write one document, and words that plugins add to formats of others.
import test from 'ava';
import {
  type Contribution,
  contribute,
  definePlugin,
  openObject,
  type Plugin,
} from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { type Protocol, Protocols, type ProxyEntry } from '../../inbounds/contract.js';
import { type DocumentFormat, Formats, type Renderer, Renderers, Subscription } from '../contract.js';
import type { SubscriptionApi } from '../contract.js';

const plugin = (name: string, contributes: () => Contribution[], parts: object = {}): Plugin =>
  definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', contributes, ...parts });

const book: DocumentFormat = {
  name: 'book',
  contentType: 'application/json',
  prefix: () => '/book/',
  cannot: ({ account: { protocol }, transport }) => {
    if (protocol === 'pigeon') return 'the book knows no pigeons';
    return transport.kind === 'grpc' ? 'the book knows no gRPC' : undefined;
  },
  document: (entries, { client }) => JSON.stringify({ of: client.email, entries }),
};
const pigeon: Protocol = {
  name: 'pigeon',
  settings: openObject(),
  coreSettings: () => ({}),
  account: ({ uuid }) => ({ protocol: 'vless', id: uuid, flow: '' }),
  entry: (_inbound, base) => ({
    ...base,
    transport: { kind: 'own' },
    account: { protocol: 'pigeon', ring: ({ uuid }) => uuid.slice(0, 8), fast: true },
  }),
};
const words: Renderer = {
  format: 'book',
  protocol: 'pigeon',
  render: ({ account, server }) => ({ bird: account['ring'] ?? '', loft: server }),
};
const lines: Renderer = {
  format: 'links',
  protocol: 'pigeon',
  compile:
    () =>
    ({ client, authority, name }) =>
      `pigeon://${client.uuid}@${authority}#${name}`,
};

interface Read {
  readonly of: string;
  readonly entries: readonly { readonly entry: ProxyEntry; readonly rendered?: object }[];
}

async function boot(t: { teardown(end: () => Promise<void>): void }, ...outside: Plugin[]) {
  const seen: { subscription?: SubscriptionApi } = {};
  const reader = plugin('reader', () => [], {
    uses: { subscription: Subscription },
    start: ({ subscription }: { subscription: SubscriptionApi }) => void (seen.subscription = subscription),
  });
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [plugin('book', () => [contribute(Formats, book)]), reader, ...outside],
    // They leave out entries as well.
    without: ['sub-json', 'sub-balancers', 'sub-alt', 'sub-sing-box'],
    env: { WEIR_LOG_LEVEL: 'debug' },
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '{{INBOUND}}-{{EMAIL}}' },
  });
  return {
    panel,
    subscription: seen.subscription as SubscriptionApi,
    read: async (subId: string) => {
      const answer = await fetch(`${panel.subscriptionUrl}/book/${subId}`);
      return { status: answer.status, body: answer.ok ? ((await answer.json()) as Read) : undefined };
    },
    links: async (subId: string) => {
      const answer = await fetch(`${panel.subscriptionUrl}/s/${subId}`);
      return { status: answer.status, text: await answer.text() };
    },
    faults: () =>
      panel.log
        .map((line) => JSON.parse(line) as { msg: string; plugin?: string })
        .flatMap(({ msg, plugin: name }) => (msg === 'plugin fault' ? [name] : [])),
  };
}

test('a document gets all entries of a client in order, complete, and counts what it leaves out', async (t) => {
  const { panel, read, subscription } = await boot(t);
  const [last, left, first] = [
    await panel.addInbound({ protocol: 'trojan', remark: 'last', subSortIndex: 3 }),
    await panel.addInbound({ streamSettings: { network: 'grpc' }, remark: 'left' }),
    await panel.addInbound({
      remark: 'first',
      shareAddr: '203.0.113.1',
      shareAddrStrategy: 'custom',
      subSortIndex: 1,
    }),
  ];
  const ada = await panel.addClient('ada', [last, left, first], { password: 'pw' });
  const { status, body } = await read(ada.subId);
  t.is(status, 200);
  t.is(body?.of, 'ada');
  const ports = new Map(
    (await panel.get<{ id: number; port: number }[]>('/panel/api/inbounds/list')).map(({ id, port }) => [
      id,
      port,
    ]),
  );
  const tail = { transport: { kind: 'tcp' }, security: { kind: 'none' } };
  const vless = { protocol: 'vless', id: ada.uuid, flow: '', encryption: 'none' };
  t.deepEqual(body?.entries as unknown, [
    { entry: { server: '203.0.113.1', port: ports.get(first), ...tail, account: vless, name: 'first-ada' } },
    {
      entry: {
        server: '127.0.0.1',
        port: ports.get(last),
        ...tail,
        account: { protocol: 'trojan', password: 'pw' },
        name: 'last',
      },
    },
  ]);
  const missing = { inboundId: left, hostRemark: '', reason: 'the book knows no gRPC' };
  t.deepEqual(subscription.leftOut(), [{ format: 'book', ...missing }]);
  t.true(
    panel.log.some(
      (line) =>
        line.includes('"level":"debug"') && line.includes('leaves it out') && line.includes('no gRPC'),
    ),
  );
  // Who may not connect gets a document without entries.
  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  t.deepEqual((await read(ada.subId)).body?.entries, []);
  await panel.get(`/panel/api/inbounds/del/${left}`, { method: 'POST' });
  t.deepEqual(subscription.leftOut(), []);
});

test('leaves out and counts entries of a third-party protocol until a renderer expresses them', async (t) => {
  const alone = await boot(
    t,
    plugin('pigeon', () => [contribute(Protocols, pigeon)]),
  );
  const id = await alone.panel.addInbound({ protocol: 'pigeon' });
  const ada = await alone.panel.addClient('ada', [id]);
  t.deepEqual((await alone.read(ada.subId)).body?.entries, []);
  t.deepEqual(await alone.links(ada.subId), { status: 200, text: '' });
  t.deepEqual(
    alone.subscription
      .leftOut()
      .map(({ format, inboundId, reason }) => [format, inboundId, reason])
      .sort(),
    [
      ['book', id, 'the book knows no pigeons'],
      ['links', id, 'there is no share link for pigeon'],
    ],
  );
  const entry = alone.subscription.proxies(alone.subscription && (ada as never), { named: 'vpn.example' });
  t.deepEqual(
    entry.map(({ account, server }) => [account, server]),
    [[{ protocol: 'pigeon', ring: ada.uuid.slice(0, 8), fast: true }, 'vpn.example']],
  );

  const both = await boot(
    t,
    plugin('pigeon', () => [
      contribute(Protocols, pigeon),
      contribute(Renderers, words),
      contribute(Renderers, lines),
    ]),
  );
  const other = await both.panel.addInbound({ protocol: 'pigeon', remark: 'loft' });
  const bob = await both.panel.addClient('bob', [other]);
  t.deepEqual(
    (await both.read(bob.subId)).body?.entries.map(({ rendered }) => rendered),
    [{ bird: bob.uuid.slice(0, 8), loft: '127.0.0.1' }],
  );
  t.regex(
    (await both.links(bob.subId)).text,
    new RegExp(`^pigeon://${bob.uuid}@127\\.0\\.0\\.1:\\d+#loft-bob\n$`),
  );
  t.deepEqual(both.subscription.leftOut(), []);
  t.deepEqual(both.faults(), []);
});

const crash = (): never => {
  throw new Error('weeds');
};
const FAILING: Readonly<Record<string, Partial<Record<keyof Renderer, unknown>>>> = {
  'throws in cannot': { cannot: crash },
  'throws in render': { render: crash },
  'answers junk in render': { render: () => 'weeds' },
  'returns a value that is not valid JSON': { render: () => ({ far: 10n }) },
  'answers a promise': { render: async () => ({}) },
};
for (const [what, parts] of Object.entries(FAILING))
  test(`a renderer that ${what} costs who needs it, and is named`, async (t) => {
    const { panel, read, links, faults } = await boot(
      t,
      plugin('pigeon', () => [contribute(Protocols, pigeon)]),
      plugin('weed', () => [contribute(Renderers, { ...words, ...parts } as Renderer)]),
    );
    const own = await panel.addInbound();
    const bird = await panel.addInbound({ protocol: 'pigeon' });
    const ada = await panel.addClient('ada', [own, bird]);
    const bob = await panel.addClient('bob', [own]);
    t.is((await read(ada.subId)).status, 503);
    t.is((await read(bob.subId)).body?.entries.length, 1);
    t.is((await links(ada.subId)).status, 200);
    t.deepEqual([...new Set(faults())], ['weed']);
  });

test('a renderer is asked only for what the format cannot express, and one of the wrong kind is of no use', async (t) => {
  const { panel, read, subscription, faults } = await boot(
    t,
    plugin('pigeon', () => [contribute(Protocols, pigeon)]),
    plugin('weed', () => [
      contribute(Renderers, { format: 'book', protocol: 'vless', render: () => ({ stolen: true }) }),
      contribute(Renderers, { ...lines, format: 'book' }),
    ]),
  );
  const ada = await panel.addClient('ada', [
    await panel.addInbound(),
    await panel.addInbound({ protocol: 'pigeon' }),
  ]);
  const entries = (await read(ada.subId)).body?.entries ?? [];
  t.is(entries.length, 1);
  t.is(entries[0]?.rendered, undefined);
  t.is(
    subscription.leftOut().find(({ format }) => format === 'book')?.reason,
    'the book knows no pigeons; its renderer has no function render, which the format calls',
  );
  t.deepEqual(faults(), []);
});

test('two renderers for the same words, or one without any, are refused', async (t) => {
  const add = (...renderers: unknown[]) =>
    plugin('weed', () => renderers.map((renderer) => contribute(Renderers, renderer as Renderer)));
  const cases: readonly (readonly [Plugin, RegExp])[] = [
    [add(words, words), /a renderer for book\/pigeon already exists, in plugin weed; only one can write/],
    [add({ format: 'book', protocol: 'pigeon' }), /needs either a function compile or a function render/],
    [add({ ...words, compile: lines.compile }), /needs either a function compile or a function render/],
    [add({ ...words, format: '' }), /needs the name of a format/],
  ];
  for (const [outside, message] of cases)
    await t.throwsAsync(TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [outside] }), {
      message,
    });
});
