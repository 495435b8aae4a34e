// Runs on every database in test:full.
// External links and subscriptions of clients in what client programs fetch.
import type { IncomingMessage, ServerResponse } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, singleton } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { until } from '../../../test/harness/until.js';
import { serve } from '../../outgoing/test/world.js';
import { Formats } from '../../subscription/contract.js';
import type { ExternalLink } from '../contract.js';
import plugin from '../index.js';
import { SourceFetcher } from '../source-fetcher.js';
import type { SourceStore } from '../source-store.js';

const list = definePlugin({
  name: 'names',
  version: '1.0.0',
  api: 1,
  about: 'Writes the names and servers of entries.',
  contributes: () => [
    contribute(Formats, {
      name: 'names',
      contentType: 'text/plain',
      prefix: () => '/names/',
      uniqueNames: true,
      cannot: ({ account }) => (account.protocol === 'mtproto' ? 'there is no mtproto' : undefined),
      compile:
        ({ account }) =>
        ({ authority, name }) =>
          `${account.protocol} ${authority} ${name}`,
      body: (lines) => lines.join('\n'),
    }),
  ],
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const TROJAN = 'trojan://pw@1.2.3.4:8443?security=tls';
const VMESS = `vmess://${base64('{"add":"v.example","port":"443","id":"u","ps":"vm"}')}`;
const ANYTLS = 'anytls://pw@any.example:443#any';
const MINUTE = 60_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
/** Has room for two sources. */
class SmallFetcher extends SourceFetcher {
  constructor(needs: ConstructorParameters<typeof SourceFetcher>[0]) {
    super(needs, { sources: 2, characters: 1_000 });
  }
}

async function boot(t: ExecutionContext, { hasJob = false, isSmall = false } = {}) {
  const source: { answer: Answer; asked: IncomingMessage[] } = {
    answer: (_, response) => response.end(),
    asked: [],
  };
  const { url, port } = await serve(t, (request, response) => {
    source.asked.push(request);
    source.answer(request, response);
  });
  const clock = new FakeClock();
  const observed = servicesOf<{ fetcher: SourceFetcher; sources: SourceStore }>(
    isSmall ? { ...plugin, services: { ...plugin.services, fetcher: singleton(SmallFetcher) } } : plugin,
  );
  const panel = await TestPanel.boot({
    // Runs of the job would meet those of the test.
    plugins: [new FakeEngine().plugin, hasJob ? observed.plugin : { ...observed.plugin, jobs: () => [] }],
    outside: [list],
    clock,
    env: { WEIR_OUTGOING_ALLOW: `external-links=127.0.0.1:${port}` },
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '{{INBOUND}}' },
  });
  const inbound = await panel.addInbound({ remark: 'in' });
  for (const email of ['ann', 'bob']) await panel.addClient(email, [inbound], { subId: email });
  const read = async (path: string) => (await (await fetch(`${panel.subscriptionUrl}${path}`)).text()).trim();
  return {
    panel,
    clock,
    source,
    url,
    sources: () => observed.services.sources,
    run: () => observed.services.fetcher.run(new AbortController().signal),
    set: (email: string, externalLinks: readonly object[]) =>
      panel.get(`/panel/api/clients/${email}/externalLinks`, { body: { externalLinks } }),
    links: async (id: string) => (await read(`/s/${id}`)).split('\n').slice(1),
    names: async (id: string) => (await read(`/names/${id}`)).split('\n').slice(1),
    shown: async (email: string) =>
      (await panel.get<{ externalLinks: ExternalLink[] }>(`/panel/api/clients/get/${email}`)).externalLinks,
  };
}

test('links of a client stand in a list as they are, renamed where it says so, and in documents as entries', async (t) => {
  const { panel, clock, set, links, names } = await boot(t);
  const said = await panel.call('/panel/api/clients/ann/externalLinks', {
    body: { externalLinks: [{ value: TROJAN }, { value: ANYTLS }] },
  });
  t.regex(
    JSON.stringify(said),
    /2 external links saved; number 2 is only in lists of links, because its scheme anytls is unknown/,
  );
  await set('ann', [
    { value: TROJAN, remark: 'DE-Node' },
    { value: VMESS },
    { value: VMESS, remark: 'Нода (1)' },
    { value: ANYTLS },
    { value: TROJAN },
    { value: TROJAN, remark: 'off', enable: false },
    { value: TROJAN, remark: 'expires', expiryTime: clock.now() + MINUTE },
  ]);
  const renamed = `vmess://${base64('{"add":"v.example","port":"443","id":"u","ps":"Нода (1)"}')}`;
  const expected = [`${TROJAN}#DE-Node`, VMESS, renamed, ANYTLS, TROJAN];
  t.deepEqual(await links('ann'), [...expected, `${TROJAN}#expires`]);
  t.deepEqual(await names('ann'), [
    'trojan 1.2.3.4:8443 DE-Node',
    'vmess v.example:443 vm',
    'vmess v.example:443 Нода (1)',
    'trojan 1.2.3.4:8443 ann',
    'trojan 1.2.3.4:8443 expires',
  ]);
  t.deepEqual(await links('bob'), []);
  clock.tick(MINUTE);
  t.deepEqual(await links('ann'), expected);
  t.deepEqual((await panel.get<string[]>('/panel/api/clients/subLinks/ann')).slice(1), expected);
  await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  t.deepEqual(await links('ann'), [], 'those of a disabled client are not sent');
  await panel.get('/panel/api/clients/update/ann', {
    body: { enable: true, expiryTime: clock.now() + MINUTE },
  });
  t.deepEqual(await links('ann'), expected);
  clock.tick(MINUTE);
  t.deepEqual(await links('ann'), [], 'nor those of an expired one');
  t.deepEqual(panel.faults, []);
});

test('a subscription elsewhere is fetched once for all, in the background, and stays while its source is down', async (t) => {
  const { panel, clock, source, url, run, set, links, names, shown, sources } = await boot(t);
  const sub = { kind: 'subscription', value: `${url}/s3kr1t` };
  await set('ann', [sub]);
  await set('bob', [{ ...sub, namePrefix: 'B ' }]);
  t.deepEqual(await links('ann'), []);
  t.is(source.asked.length, 0, 'a fetch of a subscription asks nobody');
  const lines = [
    `${TROJAN}#one`,
    '# a comment',
    'happ://routing/onadd/e30=',
    'javascript://x@y:1',
    TROJAN,
    'tg://proxy?server=t.example&port=443&secret=ee00112233445566778899aabbccddeeff',
    ANYTLS,
    'not a link',
  ];
  source.answer = (_, response) => response.end(base64(lines.join('\r\n')).replaceAll(/(.{60})/g, '$1\n'));
  await run();
  await run();
  t.is(source.asked.length, 1, 'one request, for both clients and both runs');
  t.regex(source.asked[0]?.headers['user-agent'] ?? '', /^v2rayNG/);
  const telegram = lines[5] ?? '';
  t.deepEqual(await links('ann'), [`${TROJAN}#one`, TROJAN, telegram, ANYTLS]);
  t.deepEqual(await links('bob'), [
    `${TROJAN}#B%20one`,
    `${TROJAN}#B%20bob`,
    telegram,
    'anytls://pw@any.example:443#B%20any',
  ]);
  t.deepEqual(await names('ann'), ['trojan 1.2.3.4:8443 one', 'trojan 1.2.3.4:8443 ann']);
  t.deepEqual(await names('bob'), ['trojan 1.2.3.4:8443 B one', 'trojan 1.2.3.4:8443 B bob']);
  t.like((await shown('ann'))[0], { lastFetchAt: clock.now(), lastFetchError: '' });

  clock.tick(60 * MINUTE);
  source.answer = (_, response) => void response.writeHead(502).end();
  await run();
  t.is(source.asked.length, 2);
  t.is((await links('ann')).length, 4, 'its links stay');
  for (const email of ['ann', 'bob'])
    t.like((await shown(email))[0], { lastFetchAt: clock.now(), lastFetchError: 'the source answered 502' });
  clock.tick(4 * MINUTE);
  await run();
  t.is(source.asked.length, 2, 'it is not asked at once again');
  clock.tick(MINUTE);
  source.answer = (_, response) => void response.end(`${TROJAN}#two`);
  await run();
  t.deepEqual(await links('ann'), [`${TROJAN}#two`]);
  t.deepEqual(
    [...(await sources().projection.fresh()).values()],
    [...sources().all()],
    'the rows say the same',
  );

  await set('ann', []);
  await set('bob', []);
  await run();
  t.deepEqual([...sources().all()], [], 'nobody has it any more');
  t.is((await sources().projection.fresh()).size, 0);
  t.false(
    panel.log.some((line) => line.includes('s3kr1t')),
    'its URL is not in the log',
  );
  t.deepEqual(panel.faults, []);
});

test('a source that is private, too large, slow to end or no list is refused with the reason, and others are fetched', async (t) => {
  const { panel, source, url, run, set, links, shown } = await boot(t);
  await set('ann', [
    { kind: 'subscription', value: 'http://127.0.0.1:1/x' },
    { kind: 'subscription', value: 'http://169.254.169.254/latest' },
    { kind: 'subscription', value: `${panel.url}/` },
    { kind: 'subscription', value: `${url}/large` },
    { kind: 'subscription', value: `${url}/page` },
    { kind: 'subscription', value: `${url}/yaml` },
    { kind: 'subscription', value: `${url}/away` },
    { kind: 'subscription', value: `${url}/many` },
  ]);
  const many = Array.from({ length: 700 }, (_, i) => `${TROJAN}#${i}`).join('\n');
  const answers: Readonly<Record<string, Answer>> = {
    '/large': (_, response) => void response.end('x'.repeat(3 * 1024 * 1024)),
    '/page': (_, response) => void response.end('<!doctype html><a href="https://x.example">x</a>'),
    '/yaml': (_, response) => void response.end('proxies:\n  - name: x\n'),
    '/away': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.2:9/' }).end(),
    '/many': (_, response) => void response.end(many),
  };
  source.answer = (request, response) => answers[request.url ?? '']?.(request, response);
  await run();
  const reasons = (await shown('ann')).map(({ lastFetchError }) => lastFetchError);
  for (const [i, reason] of [
    /127\.0\.0\.1/,
    /169\.254\.169\.254/,
    /own listener|of this machine|not public/,
    /2097152|maxBytes|2 MiB/,
    /it is a web page/,
    /it is YAML/,
    /127\.0\.0\.2:9 is not among the hosts/,
    /^$/,
  ].entries())
    t.regex(reasons[i] ?? 'none', reason);
  t.is((await links('ann')).length, 500, 'of one source');
  t.deepEqual(panel.faults, []);
});

test('links of a client that may not use them now are not fetched', async (t) => {
  const { panel, clock, source, url, run, set } = await boot(t, { hasJob: true });
  source.answer = (_, response) => void response.end(TROJAN);
  const sub = { kind: 'subscription', value: `${url}/x` };
  await set('ann', [
    { ...sub, enable: false },
    { ...sub, expiryTime: clock.now() },
  ]);
  await set('bob', [sub]);
  await panel.get('/panel/api/clients/update/bob', { body: { enable: false } });
  await run();
  t.is(source.asked.length, 0);
  await panel.get('/panel/api/clients/update/bob', { body: { enable: true } });
  clock.tick(MINUTE);
  await until(() => source.asked.length > 0, 'the fetch of the job');
  t.is(source.asked.length, 1, 'the job fetches it within a minute');
});

test('a source that finds no room is refused, and those that are here already go on', async (t) => {
  const { clock, source, url, run, set, links, shown } = await boot(t, { isSmall: true });
  const sub = (name: string) => ({ kind: 'subscription', value: `${url}/${name}` });
  const errors = async (email: string) =>
    (await shown(email)).map(({ lastFetchError }) => lastFetchError.replace(/;.*/, ''));
  source.answer = (request, response) => void response.end(`${TROJAN}#${request.url?.slice(1)}`);
  await set('ann', [sub('a'), sub('b')]);
  await run();
  await set('bob', [sub('c')]);
  await run();
  t.deepEqual(await errors('bob'), ['there are too many external subscriptions']);
  t.deepEqual(await links('bob'), []);
  clock.tick(60 * MINUTE);
  source.answer = (request, response) => void response.end(`${TROJAN}#new-${request.url?.slice(1)}`);
  await run();
  t.deepEqual(await errors('ann'), ['', '']);
  t.deepEqual(await links('ann'), [`${TROJAN}#new-a`, `${TROJAN}#new-b`]);

  clock.tick(60 * MINUTE);
  const long = Array.from({ length: 30 }, (_, i) => `${TROJAN}#${i}`).join('\n');
  source.answer = (request, response) => void response.end(request.url === '/a' ? long : `${TROJAN}#newer`);
  await set('bob', []);
  await run();
  t.deepEqual(await errors('ann'), ['there are too many external subscriptions', '']);
  t.deepEqual(await links('ann'), [`${TROJAN}#new-a`, `${TROJAN}#newer`], 'the last good links stay');
});
