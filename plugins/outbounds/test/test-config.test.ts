// The config of a test core, and what the JSON of outbounds says.
import test from 'ava';
import type { JsonObject } from '../../engine/contract.js';
import { candidatesOf, isDialedDirectly, type Candidate } from '../candidates.js';
import { isReverse, referencesIn, serversOf, usesUdp } from '../outbound-json.js';
import { testConfig } from '../test-config.js';

const guard = { problem: async () => undefined };
const chosen = async (outbounds: readonly JsonObject[], all: readonly JsonObject[] = []) =>
  (await candidatesOf(guard, outbounds, all)) as Candidate[];

test('each login leads to its outbound, and everything else nowhere', async (t) => {
  const outbounds: JsonObject[] = [
    { tag: 'nowhere', protocol: 'socks', settings: { servers: [{ address: 'o1', port: 1 }] } },
    {
      Tag: 'o0',
      Protocol: 'WireGuard',
      Settings: { nokerneltun: false, secretKey: 'k' },
      streamSettings: { sockopt: { dialerProxy: 'fragment' } },
    },
  ];
  const all: JsonObject[] = [
    { tag: 'fragment', protocol: 'freedom', settings: { fragment: { packets: 'tlshello' } } },
    { tag: 'unused', protocol: 'freedom' },
  ];
  const { config, logins, tags } = testConfig(await chosen(outbounds, all), {
    socket: '/x/s',
    password: 'p',
  });
  t.deepEqual(config['outbounds'], [
    { tag: 'nowhere', protocol: 'blackhole' },
    { tag: 'o0', protocol: 'socks', settings: { servers: [{ address: 'o1', port: 1 }] } },
    { tag: 'o1', protocol: 'freedom', settings: { fragment: { packets: 'tlshello' } } },
    {
      Tag: 'o2',
      Protocol: 'WireGuard',
      streamSettings: { sockopt: { dialerProxy: 'o1' } },
      settings: { secretKey: 'k', noKernelTun: true },
    },
  ]);
  t.deepEqual((config['routing'] as JsonObject)['rules'], [
    { type: 'field', user: ['u0'], outboundTag: 'o0' },
    { type: 'field', user: ['u1'], outboundTag: 'o2' },
  ]);
  t.like((config['inbounds'] as JsonObject[])[0], { listen: '/x/s,0600', protocol: 'http' });
  t.deepEqual([logins.get('o0'), tags.get('o2')], ['u1:p', 'o0']);
});

test('references, servers, UDP and reverse proxies are found in any case', async (t) => {
  t.deepEqual(
    referencesIn({
      proxysettings: { TAG: 'a' },
      StreamSettings: {
        sockopt: { DialerProxy: 'b' },
        xhttpSettings: { extra: { downloadSettings: { sockopt: { dialerproxy: 'c' } } } },
      },
      settings: { proxySettings: { tag: 'no' } },
    }).map(({ tag }) => tag),
    ['a', 'b', 'c'],
  );
  t.deepEqual(
    serversOf({
      settings: {
        address: 'flat.example',
        port: '443',
        vnext: [{ address: '2001:db8::1', port: 1 }],
        Servers: [
          { address: 'a', port: 0 },
          { address: '/run/x', port: 1 },
          { address: 'b', port: 65_536 },
          { address: 'c', port: 65_535 },
          7,
        ],
      },
    }),
    [
      { host: 'flat.example', port: 443 },
      { host: '2001:db8::1', port: 1 },
      { host: 'c', port: 65_535 },
    ],
  );
  const stream = (streamSettings: JsonObject): JsonObject => ({ protocol: 'vless', streamSettings });
  t.deepEqual(
    [
      { protocol: 'Hysteria' },
      stream({ network: 'mKCP' }),
      stream({ network: 'xhttp', tlsSettings: { alpn: ['h3'] } }),
      stream({ network: 'xhttp', tlsSettings: { alpn: ['h2', 'h3'] } }),
      stream({ network: 'ws' }),
    ].map(usesUdp),
    [true, true, true, false, false],
  );
  t.true(isReverse({ settings: { vnext: [{ users: [{ Reverse: { tag: 'r' } }] }] } }));
  t.false(isReverse({ settings: { vnext: [{ users: [{ id: 'reverse' }] }] } }));
});

test('long chains, circles and chains through a freedom', async (t) => {
  const link = (at: number): JsonObject => ({
    tag: `l${at}`,
    protocol: 'socks',
    proxySettings: { tag: `l${at + 1}` },
  });
  const links = Array.from({ length: 40 }, (_, at) => link(at));
  const [long] = await candidatesOf(guard, [link(0)], links);
  t.regex(long && 'error' in long ? long.error : '', /more than 20/);
  const circle = [link(0), { ...link(1), proxySettings: { tag: 'l0' } }];
  for (const one of await candidatesOf(guard, circle, [])) t.regex('error' in one ? one.error : '', /circle/);
  const free: JsonObject = { tag: 'l1', protocol: 'freedom' };
  t.deepEqual((await chosen([link(0)], [free])).map(isDialedDirectly), [true]);
  t.deepEqual((await chosen([link(0)], [{ ...free, protocol: 'http' }])).map(isDialedDirectly), [false]);
});
