// Runs on every database in test:full.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { hostFor, reachableHost } from '../address.js';

test('the host of a link is the one that was asked for, unless that is this machine itself', (t) => {
  const none = { publicHost: undefined, subDomain: '' };
  for (const [asked, host] of [
    ['vpn.example', 'vpn.example'],
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8::7', '[2001:db8::7]'],
  ] as const) {
    t.is(hostFor(asked, none), host);
    t.is(hostFor(asked, { publicHost: undefined, subDomain: 'sub.example' }), host);
    t.is(hostFor(asked, { publicHost: 'public.example', subDomain: 'sub.example' }), 'public.example');
  }
  for (const asked of ['localhost', '127.0.0.1', '127.0.0.2', '::1', '0.0.0.0', '']) {
    t.is(hostFor(asked, { publicHost: 'public.example', subDomain: 'sub.example' }), 'public.example', asked);
    t.is(hostFor(asked, { publicHost: undefined, subDomain: 'sub.example' }), 'sub.example', asked);
    t.is(hostFor(asked, { publicHost: '2001:db8::1', subDomain: '' }), '[2001:db8::1]', asked);
  }
  t.is(hostFor('127.0.0.1', none), '127.0.0.1');
  // It only begins like one.
  t.is(
    hostFor('127.0.0.1.example', { publicHost: undefined, subDomain: 'sub.example' }),
    '127.0.0.1.example',
  );
});

test('the subscription is told with an address that can be asked', (t) => {
  const shown = [
    { host: '0.0.0.0' },
    { host: '::' },
    { host: '0.0.0.0', publicHost: 'vpn.example' },
    { host: '::', publicHost: '2001:db8::1' },
    { host: '127.0.0.1', publicHost: 'vpn.example' },
    { host: '::1' },
  ].map(reachableHost);
  t.deepEqual(shown, ['127.0.0.1', '[::1]', 'vpn.example', '[2001:db8::1]', '127.0.0.1', '[::1]']);
});

test('WEIR_PUBLIC_HOST stands in all links, whatever the request or a trusted proxy says', async (t) => {
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_PUBLIC_HOST: 'public.example', WEIR_TRUSTED_PROXIES: '127.0.0.1' },
  });
  const { subId } = await panel.addClient('ann', [await panel.addInbound({ listen: '' })]);
  const path = (await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' })).subPath;
  const hostOf = (link: string | undefined): string => new URL(link ?? 'x:').hostname;
  const fetched = async (headers: Record<string, string>): Promise<string> =>
    hostOf(
      Buffer.from(
        await (await fetch(`${panel.subscriptionUrl}${path}${subId}`, { headers })).text(),
        'base64',
      ).toString(),
    );
  t.is(await fetched({}), 'public.example');
  t.is(await fetched({ 'x-forwarded-host': 'edge.example' }), 'public.example');
  t.is(hostOf((await panel.get<string[]>('/panel/api/clients/links/ann'))[0]), 'public.example');
});

test('WEIR_PUBLIC_HOST is a host and nothing else', async (t) => {
  for (const wrong of ['https://vpn.example', 'vpn.example:443', 'a b'])
    await t.throwsAsync(
      TestPanel.boot({
        plugins: [new FakeEngine().plugin],
        dataDirectory: '/nowhere/at-all',
        env: { WEIR_PUBLIC_HOST: wrong },
      }),
      { message: /WEIR_PUBLIC_HOST must be a valid hostname/ },
      wrong,
    );
});
