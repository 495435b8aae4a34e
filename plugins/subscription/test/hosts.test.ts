// What a request or a setting says may not break out of links and headers, nor keep anybody from a subscription.
import test, { type ExecutionContext } from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, tap } from '../../../kernel/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import { beforeSubscription } from '../contract.js';

const UPDATE = '/panel/api/setting/update';
const onlooker = definePlugin({
  name: 'onlooker',
  version: '1.0.0',
  api: 1,
  about: 'Sends every fetch the slow way.',
  taps: () => [tap(beforeSubscription, () => undefined)],
});

/** A fetch under a host that no `fetch` would send. */
const fetchUnder = (panel: TestPanel, path: string, host: string) =>
  new Promise<{ status: number; links: string }>((resolve, reject) => {
    request(panel.subscriptionUrl + path, { headers: { host }, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, links: Buffer.from(body, 'base64').toString() }),
      );
    })
      .on('error', reject)
      .end();
  });
const hostIn = (link: string | undefined): string => /@(.*?):\d+[?#/]/.exec(link ?? '')?.[1] ?? link ?? '';

async function boot(t: ExecutionContext, env: Record<string, string> = {}, slow = false) {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin, ...(slow ? [onlooker] : [])],
    env,
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get(UPDATE, { body: { subPath: '/s/' } });
  await panel.addClient('ann', [await panel.addInbound({ listen: '' })], { subId: 'ann' });
  return panel;
}
const HOSTILE = ['a"b<script>', "x'y", 'user@evil.example', 'evil.example/x', 'a b', 'evil.example:80:80'];

for (const slow of [false, true]) {
  const way = slow ? 'the slow way' : 'the fast way';
  test(`${way}: links carry the host of a request only when that is a host`, async (t) => {
    const panel = await boot(t, {}, slow);
    const fetched = async (host: string) => hostIn((await fetchUnder(panel, '/s/ann', host)).links);
    t.is(await fetched('vpn.example:2096'), 'vpn.example');
    t.is(await fetched('[2001:DB8::0:7]:2096'), '[2001:db8::7]');
    for (const host of HOSTILE) t.is(await fetched(host), 'localhost', host);
    await panel.get(UPDATE, { body: { subDomain: 'sub.example' } });
    for (const host of HOSTILE) t.is((await fetchUnder(panel, '/s/ann', host)).status, 403, host);
    t.is(await fetched('127.0.0.1'), 'sub.example');
  });

  test(`${way}: WEIR_PUBLIC_HOST wins over the host of a request`, async (t) => {
    const panel = await boot(t, { WEIR_PUBLIC_HOST: 'public.example' }, slow);
    for (const host of ['evil.example', '127.0.0.1', ...HOSTILE])
      t.is(hostIn((await fetchUnder(panel, '/s/ann', host)).links), 'public.example', host);
  });

  test(`${way}: what cannot be decoded below the right path is answered as a wrong path is`, async (t) => {
    const panel = await boot(t, {}, slow);
    const raw = async (path: string) => {
      const answer = await fetch(panel.subscriptionUrl + path);
      const { date: _, ...headers } = Object.fromEntries(answer.headers);
      return { status: answer.status, headers, body: await answer.text() };
    };
    t.is((await raw('/s/ann')).status, 200);
    const gone = await raw('/wrong/ann');
    t.is(gone.status, 404);
    for (const id of ['%', '%zz', '%C3%28', '%ED%A0%80', '%00', 'a%', 'a/%'])
      for (const prefix of ['/s/', '/wrong/']) t.deepEqual(await raw(prefix + id), gone, prefix + id);
  });
}

test('settings that would break headers and links are refused by name', async (t) => {
  const panel = await boot(t);
  const wrong: Record<string, readonly string[]> = {
    subSupportUrl: [
      'https://help.example/\ud800',
      'javascript:alert(1)',
      ' JavaScript:alert(1)',
      'javascript://help.example/%0aalert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      'https://',
      'https://a b.example/',
      'https://help.example\r\nX-Evil: 1',
      'https://help.example/\u0000',
    ],
    subProfileUrl: ['javascript:alert(1)', 'https://p.example/\udc00'],
    subTitle: ['a\ud800', 'a\r\nX-Evil: 1', 'a\u001b'],
    subAnnounce: ['\udfff', 'a\nb', '\u0000'],
    subDomain: ['a"b', 'vpn.example:443', 'vpn.example/x', 'a b', '1.2.3'],
    remarkTemplate: ['{{INBOUND}}\ud800', '\u0000'],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      await refused(
        t,
        panel,
        UPDATE,
        { body: { [name]: value } },
        { status: 400, code: 'KERNEL_INVALID', field: name, says: name },
      );
  for (const [sent, stored] of [
    ['help.example/chat', 'https://help.example/chat'],
    ['help.example:8443/chat', 'https://help.example:8443/chat'],
    ['tg://resolve?domain=help', 'tg://resolve?domain=help'],
    ['mailto:help@example.com', 'mailto:help@example.com'],
    ['tel:112', 'tel:112'],
    ['https://{{SUB_ID}}.help.example/{{EMAIL}}', 'https://{{SUB_ID}}.help.example/{{EMAIL}}'],
    ['https://hilfe.example/ü', 'https://hilfe.example/ü'],
    ['', ''],
  ] as const) {
    await panel.get(UPDATE, { body: { subSupportUrl: sent } });
    const { subSupportUrl } = await panel.get<{ subSupportUrl: string }>('/panel/api/setting/all', {
      method: 'POST',
    });
    t.is(subSupportUrl, stored);
    t.is((await fetchUnder(panel, '/s/ann', 'a')).status, 200, sent);
  }
});

test('a database that holds such settings already keeps nobody from a subscription', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const plugins = [new FakeEngine().plugin];
  const first = await TestPanel.boot({ plugins, dataDirectory });
  t.teardown(() => first.stop());
  await first.get(UPDATE, { body: { subPath: '/s/', subSupportUrl: 'https://help.example' } });
  await first.addClient('ann', [await first.addInbound({ listen: '' })], { subId: 'ann' });
  await first.get(UPDATE, { body: { subTitle: 'x', subAnnounce: 'x', subDomain: 'x', subProfileUrl: 'x' } });
  await first.stop();
  const put = (name: string, json: string) => `UPDATE settings SET value = '${json}' WHERE name = '${name}'`;
  await editDatabase(dataDirectory, [
    put('subSupportUrl', '"https://help.example/\\ud800"'),
    put('subProfileUrl', '"javascript:alert(1)"'),
    put('subTitle', '"\\ud800"'),
    put('subAnnounce', '"a\\u0000"'),
    put('subDomain', '"a:443"'),
  ]);
  const second = await TestPanel.boot({ plugins, dataDirectory });
  t.teardown(() => second[Symbol.asyncDispose]());
  const answer = await fetch(`${second.subscriptionUrl}/s/ann`);
  t.is(answer.status, 200);
  for (const name of ['support-url', 'profile-web-page-url', 'profile-title', 'announce'])
    t.is(answer.headers.get(name), null, name);
  const unfit = second.log
    .map((line) => JSON.parse(line) as { msg: string; setting?: string })
    .filter(({ msg }) => msg.startsWith('a stored setting is not valid'));
  t.deepEqual(unfit.map(({ setting }) => setting).sort(), [
    'subAnnounce',
    'subDomain',
    'subProfileUrl',
    'subSupportUrl',
    'subTitle',
  ]);
});
