import test from 'ava';
import { shareLinkProblem, subscriptionUrlProblem } from '../share-link.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const vmess = (config: unknown): string => `vmess://${base64(JSON.stringify(config))}`;
const UUID = '11111111-2222-4333-8444-555555555555';

test('takes the links that client programs read', (t) => {
  for (const link of [
    vmess({ v: '2', ps: 'имя', add: 'de.example.org', port: '443', id: UUID, net: 'ws' }),
    vmess({ add: '192.0.2.1', port: 8080, id: UUID }),
    vmess({ add: 'de.example.org', id: UUID }),
    `${vmess({ add: 'de.example.org', port: 1, id: UUID }).replace(/=+$/, '')}#name`,
    `vmess://${UUID}@de.example.org:443?type=ws`,
    `vless://${UUID}@de.example.org:443?security=reality&pbk=x#My node`,
    `VLESS://${UUID}@[2001:db8::1]:443`,
    `vless://${UUID}@de.example.org`,
    `vless://${UUID}@пример.рф:443`,
    'trojan://p%40ss@de.example.org:443?sni=x#%F0%9F%87%A9',
    `ss://${base64('aes-256-gcm:secret')}@192.0.2.1:8388#x`,
    `ss://${base64('aes-256-gcm:secret').replace(/=+$/, '')}@192.0.2.1:8388/?plugin=obfs-local`,
    'ss://2022-blake3-aes-128-gcm:YWJj%3D%3AZGVm%3D@de.example.org:8388',
    `ss://${base64('aes-256-gcm:sec/ret@x@192.0.2.1:8388')}#old`,
    'hysteria2://secret@de.example.org:443,5000-6000?obfs=salamander',
    'hy2://de.example.org:443?auth=x',
    'hysteria://de.example.org:443?auth=x',
    `tuic://${UUID}:pass@de.example.org:443`,
    'wireguard://cHJpdmF0ZQ%3D%3D@192.0.2.1:51820?publickey=x',
    'wg://cHJpdmF0ZQ==@192.0.2.1:51820',
    'socks://de.example.org:1080',
  ])
    t.is(shareLinkProblem(link), undefined, link);
});

test('refuses what is no link, with the reason', (t) => {
  for (const [link, reason] of [
    ['hello', /does not begin with a scheme/],
    ['://x', /does not begin with a scheme/],
    ['https://example.org/sub', /scheme https is unknown/],
    ['javascript://x@y:1', /scheme javascript is unknown/],
    [`vless://${UUID}@de.example.org:0`, /port/],
    [`vless://${UUID}@de.example.org:65536`, /port/],
    [`vless://${UUID}@de.example.org:4x`, /port/],
    [vmess({ add: 'de.example.org', port: { toString: 1, valueOf: 1 }, id: UUID }), /port/],
    [`vless://${UUID}@:443`, /no server/],
    ['vless://de.example.org:443', /no credentials/],
    [`vless://${UUID}@de example:443`, /not a host name/],
    [`vless://${UUID}@[2001:::1]:443`, /not a host name/],
    [`vless://${UUID}@de.example.org:443#a\nvless://${UUID}@evil.example:1`, /control characters/],
    [`vless://${UUID}@de.example.org:443#\u2028`, /control characters/],
    ['trojan://%E0%A4%A@de.example.org:443', /no credentials/],
    ['hy2://x@de.example.org:443-70000', /ports/],
    ['hy2://x@de.example.org:443-', /port/],
    ['vmess://', /not base64/],
    ['vmess://????', /not base64/],
    [`vmess://${base64('no json')}`, /not the base64 of JSON/],
    [`vmess://${base64('null')}`, /not an object/],
    [vmess({ add: 'x', port: 1 }), /no id/],
    [vmess({ id: UUID, port: 1 }), /no server/],
    [vmess({ id: UUID, add: 'x', port: 'many' }), /port/],
    [vmess({ id: UUID, add: 'x', port: {} }), /port/],
    [`ss://${base64('only-a-method')}@192.0.2.1:1`, /no method and password/],
    ['ss://192.0.2.1:8388', /not base64/],
    [`ss://${base64('aes-256-gcm:x@192.0.2.1:99999')}`, /port/],
  ] as const)
    t.regex(shareLinkProblem(link) ?? 'none', reason, link);
});

test('a subscription is an http or https URL with a host', (t) => {
  for (const url of ['https://example.org/sub/x?a=b#c', 'http://192.0.2.1:2096/s/', 'HTTPS://u:p@[::1]/x'])
    t.is(subscriptionUrlProblem(url), undefined, url);
  for (const url of [
    'ftp://example.org/x',
    'file:///etc/passwd',
    'example.org/sub',
    'https:///x',
    'https:example.org',
    'https://exa mple.org/',
    'https://example.org/\nx',
    'javascript:alert(1)',
    `vless://${UUID}@de.example.org:443`,
  ])
    t.truthy(subscriptionUrlProblem(url), url);
});
