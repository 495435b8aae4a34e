// Bodies that are refused, and outbounds that are not tested, without a core.
import test from 'ava';
import { FakeEngine, refused, TestPanel } from '../../../test/harness/index.js';
import type { Tested } from '../tester.js';

const API = '/panel/api/engine';
const socks = (tag: unknown): object => ({
  tag,
  protocol: 'socks',
  settings: { servers: [{ address: '127.0.0.1', port: 9 }] },
});
const nested = (levels: number): object => (levels === 0 ? {} : { in: nested(levels - 1) });

test('bodies that are not outbounds are refused, with the field', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const code = 'KERNEL_INVALID';
  for (const [path, body, field] of [
    ['testOutbound', {}, 'outbound'],
    ['testOutbound', { outbound: '{"tag"' }, 'outbound'],
    ['testOutbound', { outbound: '[]' }, 'outbound'],
    ['testOutbound', { outbound: 'null' }, 'outbound'],
    ['testOutbound', { outbound: '' }, 'outbound'],
    ['testOutbound', { outbound: 'x'.repeat(100_000) }, 'outbound'],
    ['testOutbounds', { outbounds: ['ghost'] }, 'outbounds.0'],
    ['testOutbound', { outbound: socks('a'), allOutbounds: ['direct'] }, 'allOutbounds.0'],
    ['testOutbound', { outbound: 7 }, 'outbound'],
    ['testOutbound', { outbound: JSON.stringify(nested(300)) }, 'outbound'],
    ['testOutbound', { outbound: socks('a'), mode: 'udp' }, 'mode'],
    ['testOutbound', { outbound: socks('a'), allOutbounds: {} }, 'allOutbounds'],
    ['testOutbound', { outbound: socks('a'), allOutbounds: [7] }, 'allOutbounds.0'],
    ['testOutbound', { outbound: socks('a'), allOutbounds: '[[]]' }, 'allOutbounds.0'],
    ['testOutbounds', {}, 'outbounds'],
    ['testOutbounds', { outbounds: '{}' }, 'outbounds'],
    ['testOutbounds', { outbounds: [socks('a'), null] }, 'outbounds.1'],
    ['testOutbounds', { outbounds: Array.from({ length: 51 }, (_, at) => socks(`o${at}`)) }, 'outbounds'],
    ['testOutbounds', { outbounds: [], allOutbounds: Array(5001).fill({}) }, 'allOutbounds'],
    ['routeTest', {}, 'domain'],
    ['routeTest', { domain: '', ip: '' }, 'domain'],
    ['routeTest', { ip: '300.1.1.1' }, 'ip'],
    ['routeTest', { ip: 'example.com' }, 'ip'],
    ['routeTest', { domain: 'a.example', port: 65_536 }, 'port'],
    ['routeTest', { domain: 'a.example', port: -1 }, 'port'],
    ['routeTest', { domain: 'a.example', network: 'icmp' }, 'network'],
    ['routeTest', { domain: `${'a'.repeat(254)}` }, 'domain'],
    ['routeTest', { domain: 'a\nb' }, 'domain'],
    ['routeTest', { domain: 'a.example', email: '\ud800' }, 'email'],
    ['routeTest', { domain: 'a.example', inboundTag: '\u0000' }, 'inboundTag'],
    ['balancerStatus', { tags: '\ud800' }, 'tags'],
    ['balancerOverride', { tag: 'a', target: '\ud800' }, 'target'],
    ['balancerStatus', { tags: Array(501).fill('a').join(',') }, 'tags'],
    ['balancerOverride', {}, 'tag'],
    ['balancerOverride', { tag: '' }, 'tag'],
    ['balancerOverride', { tag: 'a', target: 7 }, 'target'],
  ] as const)
    await refused(t, panel, `${API}/${path}`, { body }, { status: 400, code, field });
});

test('what cannot be tested says why, beside what can', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const outbounds = [
    socks('good'),
    socks('good'),
    socks(''),
    socks(7),
    { tag: 'no protocol' },
    { tag: 'b', protocol: 'Blackhole' },
    { tag: 'f', protocol: 'freedom' },
    { tag: 'd', protocol: 'dns' },
    { tag: 'l', protocol: 'loopback' },
    { ...socks('chained'), proxySettings: { tag: 'gone' } },
    {
      ...socks('panel'),
      settings: { servers: [{ address: '::1', port: panel.kernel.listeners.panel.port }] },
    },
  ];
  const results = await panel.get<Tested[]>(`${API}/testOutbounds`, { body: { outbounds, mode: 'tcp' } });
  t.is(results.length, outbounds.length);
  t.true(results.every(({ success }) => !success));
  t.is(results[0]?.endpoints?.length, 1);
  for (const [at, expected] of [
    /ECONNREFUSED/,
    /same/,
    /needs a tag/,
    /needs a tag/,
    /needs a protocol/,
    /blackhole/,
    /freedom/,
    /dns/,
    /loopback/,
    /proxySettings.tag: no outbound has the tag "gone"/,
    /panel/,
  ].entries())
    t.regex(results[at]?.error ?? '', expected);
  t.deepEqual(await panel.get(`${API}/testOutbounds`, { body: { outbounds: '[]', allOutbounds: '' } }), []);
});

test('without a core: nothing is fetched, no route is known, no balancer runs', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const answers = {
    test: await panel.call(`${API}/testOutbound`, { body: { outbound: socks('a') } }),
    route: await panel.call(`${API}/routeTest`, { body: { domain: 'a.example' } }),
  };
  t.is(answers.test.body.code, 'OUTBOUNDS_NO_CORE');
  t.is(answers.route.body.code, 'OUTBOUNDS_NO_CORE');
  t.deepEqual(await panel.get(`${API}/balancerStatus`, { body: { tags: 'a,,a, b' } }), {
    a: { tag: 'a', running: false, override: '', selected: null },
    b: { tag: 'b', running: false, override: '', selected: null },
  });
});
