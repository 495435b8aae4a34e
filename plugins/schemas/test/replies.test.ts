// The replies: for admins only, with an ETag that stays, composed once, with the protocols and settings of third parties.
import test from 'ava';
import {
  annotate,
  bool,
  contribute,
  custom,
  definePlugin,
  inSection,
  int,
  setting,
  shape,
  text,
  withDefault,
} from '../../../kernel/index.js';
import acmeSocks from '../../../examples/acme-socks/index.js';
import socksInbound from '../../../examples/socks-inbound/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { type Protocol, Protocols } from '../../inbounds/contract.js';
import { Composed } from '../composed.js';
import { faultsOf, protocolsOf, settingsOf } from './forms.js';

const NAMES = ['protocols', 'transports', 'settings'] as const;
const boot = (options: Parameters<typeof TestPanel.boot>[0] = {}) =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock(), ...options });

test('only who is logged in gets them; who has one already gets 304; the next start has the same', async (t) => {
  await using panel = await boot();
  await using other = await boot();
  for (const name of NAMES) {
    const path = `/panel/api/x/schemas/${name}`;
    t.is((await panel.call(path, { anonymous: true })).status, 401);
    const { status, headers, text } = await panel.call(path);
    const etag = headers.get('etag') ?? '';
    t.is(status, 200);
    t.regex(etag, /^"[\w-]{20,}"$/);
    t.is(headers.get('content-type'), 'application/json; charset=utf-8');
    t.is(headers.get('cache-control'), 'private, no-cache');
    const again = await panel.call(path, {
      // Without the second one, fetch asks for no cached reply at all.
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    t.deepEqual([again.status, again.text], [304, '']);
    t.is((await panel.call(path, { headers: { 'if-none-match': '"other"' } })).text, text);
    t.is(
      (await other.call(path)).headers.get('etag'),
      etag,
      'webBasePath and subPath differ, and are generated',
    );
  }
});

test('a reply is composed once, and again when other plugins run', (t) => {
  let states = ['a'];
  let count = 0;
  const list = () => states.map((name) => ({ name, version: '1.0.0', state: 'running' }) as never);
  const reply = new Composed({ list }, () => ({ count: ++count }));
  const first = reply.get().etag;
  t.is(reply.get().etag, first);
  t.is(count, 1);
  states = ['a', 'b'];
  t.not(reply.get().etag, first);
  t.is(count, 2);
});

test('a third-party protocol and its settings have their annotations', async (t) => {
  await using panel = await boot({ outside: [socksInbound, acmeSocks] });
  const protocols = await protocolsOf(panel);
  const socks = protocols.find(({ name }) => name === 'socks');
  t.is(socks?.plugin, 'socks-inbound');
  t.true((socks?.streams.length ?? 0) > 0);
  t.deepEqual(socks?.settings.properties?.['auth'], {
    title: 'Who may use it',
    type: 'string',
    enum: ['password'],
    default: 'password',
    'x-weir': { order: 1, level: 'basic', change: 'replace', section: 'Logins' },
  } as never);
  t.is(socks?.settings.properties?.['udp']?.['x-weir']?.level, 'advanced');
  t.deepEqual(faultsOf(socks?.settings ?? {}, { auth: 'password' }), []);
  t.like(
    protocols.find(({ name }) => name === 'acme-socks'),
    { title: 'acme-socks', plugin: 'acme-socks', runBy: 'program', streams: [] },
  );
});

const pigeon = (more: Partial<Protocol>): Protocol => ({
  name: 'pigeon',
  settings: custom(shape(inSection('Nest', { height: annotate(withDefault(int(), 3), { unit: 'm' }) }))),
  coreSettings: () => ({}),
  account: () => ({ protocol: 'pigeon' }),
  entry: (_inbound, base) => ({ ...base, account: { protocol: 'pigeon' } }),
  ...more,
});
const bird = (more: Partial<Protocol>, settings = {}) =>
  definePlugin({
    name: 'bird',
    version: '1.0.0',
    api: 1,
    about: 'Carries letters.',
    settings,
    contributes: () => [contribute(Protocols, pigeon(more))],
  });

test('a schema that cannot be described, and a plugin that fails, cost their own form only', async (t) => {
  const broken = shape({ a: text() });
  Object.assign(broken, {
    describe: () => {
      throw new Error('no words for it');
    },
  });
  await using panel = await boot({
    outside: [
      bird({
        settings: custom(broken),
        streamProblem: () => {
          throw new Error('it has no stream');
        },
      }),
    ],
  });
  const found = await protocolsOf(panel);
  t.like(
    found.find(({ name }) => name === 'pigeon'),
    { streams: [], settings: { $schema: 'https://json-schema.org/draft/2020-12/schema' } },
  );
  t.true(found.length > 10);
  t.true(panel.log.some((line) => line.includes('settings of pigeon: no words for it')));
  t.regex(panel.faults.join(), /bird, streamProblem of the protocol pigeon: it has no stream/);
});

test('a generator without a route is left out, and settings of third parties are there', async (t) => {
  const generator = { method: 'GET', path: '/panel/api/x/bird/none', fills: { height: 'height' } } as const;
  await using panel = await boot({
    outside: [
      bird(
        {
          settings: custom(shape(inSection('Nest', { height: annotate(int(), { generator, unit: 'm' }) }))),
          title: 'Pigeon',
        },
        inSection('Nest', {
          'bird.isFed': setting(bool(), true, 'whether it gets food', { level: 'advanced' }),
        }),
      ),
    ],
  });
  const protocol = (await protocolsOf(panel)).find(({ name }) => name === 'pigeon');
  t.is(protocol?.title, 'Pigeon');
  t.deepEqual(protocol?.settings.properties?.['height']?.['x-weir'], {
    order: 1,
    level: 'basic',
    section: 'Nest',
    unit: 'm',
  });
  const plugin = (await settingsOf(panel)).plugins.find(({ name }) => name === 'bird');
  t.is(plugin?.about, 'Carries letters.');
  t.deepEqual(plugin?.settings.properties?.['bird.isFed'], {
    title: 'Is fed',
    type: 'boolean',
    description: 'whether it gets food',
    default: true,
    'x-weir': { change: 'none', order: 1, level: 'advanced', section: 'Nest' },
  } as never);
});

test('an invalid annotation is an error that names it', (t) => {
  const wrong = (annotation: object) => () => annotate(int(), annotation as never);
  for (const [annotation, says] of [
    [{ level: 'expert' }, /"level" must be one of/],
    [{ colour: 'red' }, /"colour" is not allowed/],
    [{ generator: { method: 'GET', path: 'https://example.com/', fills: { a: 'b' } } }, /generator\.path/],
    [{ when: { is: [1] } }, /when\.field/],
    [{ change: 'everything' }, /"change" must be one of/],
  ] as const)
    t.throws(wrong(annotation), { message: says });
});
