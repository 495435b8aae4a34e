// Entries in the words of mihomo, sing-box and the core: what they say is read, and what nobody reads is an error.
import test from 'ava';
import { bodyItems } from '../body-items.js';
import { Fields } from '../entry-fields.js';
import { mihomoEntry } from '../mihomo-entry.js';
import { singBoxEntry } from '../sing-box-entry.js';
import { xrayOutbound } from '../xray-outbound.js';

const mihomo = (fields: object) => mihomoEntry(new Fields({ server: 'a.example', port: 443, ...fields }));
const singBox = (fields: object) =>
  singBoxEntry(new Fields({ server: 'a.example', server_port: 443, ...fields }));
const itemsOf = (text: string) => [...bodyItems(Buffer.from(text), 10_000)];

test('YAML keeps what looks like a number, and says what is wrong with each proxy', (t) => {
  const [item] = itemsOf(
    'port: 7890\nproxies:\n  - {name: 012, type: vless, server: a.example, port: 443, uuid: u, tls: true, reality-opts: {public-key: k, short-id: 1e5}, client-fingerprint: chrome}\nproxy-groups: []\n',
  );
  t.like(item, { form: 'mihomo', name: '012' });
  if (item?.form !== 'mihomo') return t.fail();
  t.like(mihomoEntry(new Fields(item.value)), {
    server: 'a.example',
    port: 443,
    security: { kind: 'reality', publicKey: 'k', shortId: '1e5' },
  });
});

test('proxies of mihomo are read, or the error names the field', (t) => {
  t.like(
    mihomo({
      type: 'ss',
      cipher: 'aes-128-gcm',
      password: 'p',
      plugin: 'obfs',
      'plugin-opts': { mode: 'http', host: 'h' },
    }),
    {
      account: { method: 'aes-128-gcm' },
      transport: { kind: 'tcp', http: { host: 'h' } },
    },
  );
  t.like(
    mihomo({
      type: 'vmess',
      uuid: 'u',
      alterId: 0,
      network: 'ws',
      'ws-opts': {
        path: '/x',
        headers: { Host: 'h' },
        'max-early-data': 2048,
        'early-data-header-name': 'Sec-WebSocket-Protocol',
      },
    }),
    {
      transport: { kind: 'ws', path: '/x?ed=2048', host: 'h' },
    },
  );
  t.like(
    mihomo({
      type: 'hysteria2',
      password: 'p',
      ports: '1000-2000',
      port: undefined,
      obfs: 'salamander',
      'obfs-password': 'o',
    }),
    {
      port: 1000,
      finalMask: { udp: [{ kind: 'salamander', password: 'o' }], udpHop: { ports: '1000-2000' } },
    },
  );
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ type: 'tuic' }, /type: the core has no outbound for tuic/],
    [{ type: 'vless', uuid: 'u', 'dialer-proxy': 'x' }, /dialer-proxy: this cannot be expressed/],
    [{ type: 'vless', uuid: 'u', smux: { enabled: true } }, /smux/],
    [{ type: 'vless', uuid: 'u', network: 'h2' }, /network: the core has no transport h2/],
    [{ type: 'vless', uuid: 'u', network: 'ws', 'ws-opts': { odd: 1 } }, /ws-opts\.odd/],
    [{ type: 'vless', uuid: 'u', network: 'ws', 'ws-opts': 'x' }, /ws-opts\. must be an object/],
    [{ type: 'vmess', uuid: 'u', alterId: 64 }, /alterId/],
    [{ type: 'vless', uuid: 'u', port: 0 }, /port: it must be a port/],
    [{ type: 'trojan' }, /password: it is missing/],
    [{ type: 'vless', uuid: { a: 1 } }, /uuid: it must be a text/],
    [
      { type: 'wireguard', 'private-key': 'a', 'public-key': 'b', 'amnezia-wg-option': { jc: 1 } },
      /amnezia-wg-option/,
    ],
  ];
  for (const [proxy, says] of cases) t.throws(() => mihomo(proxy), { message: says }, JSON.stringify(proxy));
});

test('outbounds of sing-box are read, or the error names the field', (t) => {
  t.like(
    singBox({
      type: 'shadowsocks',
      method: '2022-blake3-aes-128-gcm',
      password: 'a:b',
      plugin: 'v2ray-plugin',
      plugin_opts: String.raw`mode=websocket;mux=0;host=h;path=/a\;b;tls`,
    }),
    {
      account: { serverKey: 'a', password: 'b' },
      transport: { kind: 'ws', path: '/a;b', host: 'h' },
      security: { kind: 'tls', serverName: 'h' },
    },
  );
  t.like(
    singBox({
      type: 'vless',
      uuid: 'u',
      tls: { enabled: true, server_name: 's', utls: { enabled: true, fingerprint: 'firefox' } },
    }),
    {
      security: { kind: 'tls', serverName: 's', fingerprint: 'firefox' },
    },
  );
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ type: 'tuic' }, /type: the core has no outbound for tuic/],
    [{ type: 'vless', uuid: 'u', detour: 'x' }, /detour: this cannot be expressed/],
    [{ type: 'vless', uuid: 'u', multiplex: { enabled: true } }, /multiplex/],
    [{ type: 'vless', uuid: 'u', bind_interface: 'eth0' }, /bind_interface/],
    [
      { type: 'vless', uuid: 'u', transport: { type: 'quic' } },
      /transport\.type: the core has no transport quic/,
    ],
    [
      { type: 'vless', uuid: 'u', tls: { enabled: true, certificate_path: '/etc/passwd' } },
      /tls\.certificate_path/,
    ],
    [{ type: 'wireguard', peers: [] }, /peers: it must have one peer/],
    [{ type: 'socks', version: '4' }, /version/],
  ];
  for (const [outbound, says] of cases)
    t.throws(() => singBox(outbound), { message: says }, JSON.stringify(outbound));
});

test('of an outbound of the core only known words are taken', (t) => {
  const vless = {
    protocol: 'VLESS',
    tag: 'x',
    settings: { vnext: [{ address: 'a', port: 1, users: [{ id: 'u' }] }] },
  };
  t.deepEqual(xrayOutbound({ ...vless, proxySettings: null, sendThrough: '' }), {
    protocol: 'vless',
    settings: vless.settings,
  });
  t.throws(() => xrayOutbound({ protocol: 'freedom' }), { message: /protocol: a list may have/ });
  t.throws(() => xrayOutbound({ ...vless, streamSettings: { tlsSettings: { echSockopt: { mark: 1 } } } }), {
    message: 'streamSettings.tlsSettings.echSockopt: this is not taken from a list',
  });
  const header = { wsSettings: { headers: { 'a\nb': 'x' } } };
  t.throws(() => xrayOutbound({ ...vless, streamSettings: header }), {
    message: /a name in it contains control/,
  });
  const polluted = JSON.parse('{"protocol":"vless","__proto__":{"tag":"x"}}') as Record<string, unknown>;
  t.throws(() => xrayOutbound(polluted), { message: /__proto__: this is not taken/ });
});

test('an entry holds at most 2,000 values', (t) => {
  const entry = (values: number) =>
    itemsOf(JSON.stringify({ protocol: 'vless', list: Array.from({ length: values }, () => 0) }))[0];
  t.like(entry(1997), { form: 'xray' });
  t.like(entry(1998), { form: 'unreadable', reason: 'it has more than 2000 values' });
});

test('lines are read one by one, and each that is no link is named', (t) => {
  t.deepEqual(itemsOf('\uFEFFvless://a\r\n\r\n# no\nplain words\nss://b'), [
    { form: 'link', link: 'vless://a' },
    { form: 'unreadable', name: 'line 4', reason: 'it is no share link' },
    { form: 'link', link: 'ss://b' },
  ]);
  t.is([...bodyItems(Buffer.from('a://b\n'.repeat(20_000)), 10_000)].length, 10_001);
  const began = performance.now();
  t.like(itemsOf(`a://b\n${' '.repeat(4_000_000)}x`)[1], { form: 'unreadable' });
  t.true(performance.now() - began < 1000);
});
