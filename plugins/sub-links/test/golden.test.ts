// The golden cases of share links: what programs in the field read, character by character.
import test from 'ava';
import { hysteria } from '../../inbounds/protocols/hysteria.js';
import { vless } from '../../inbounds/protocols/vless.js';
import { readerWith } from '../../link-reader/test/reader.js';
import { placeFor } from '../../subscription/address.js';
import { encodeFragment } from '../../subscription/contract.js';
import { GOLDEN } from './golden.js';

import {
  inboundOf,
  type Host,
  through,
  linkOf,
  tls,
  AT,
  entry,
  VLESS,
  uid,
  WG,
  own,
  AWG,
  hy,
} from './golden-world.js';
import { CASES } from './golden-cases.js';
for (const [number, links] of Object.entries(CASES))
  test(`golden case ${number}`, (t) => t.deepEqual(links(), GOLDEN[number]));

test('golden cases G10 and G11: masks of a host come after those of the inbound', (t) => {
  const host = {
    address: 'h.example',
    finalMask: '{"tcp":[{"type":"fragment","settings":{"packets":"1-3","length":5}}]}',
  };
  const link = linkOf(through(entry(VLESS, { finalMask: { tcp: [{ kind: 'sudoku' }] } }), host), '');
  // A fragment without settings, as in the case, does nothing and is not written.
  const [expected = ''] = GOLDEN['G10'] ?? [];
  t.is(
    new URL(link).searchParams.get('fm') ?? '',
    (new URLSearchParams(expected).get('fm') ?? 'none').replace(
      '{"type":"fragment"}',
      '{"settings":{"length":5,"packets":"1-3"},"type":"fragment"}',
    ),
  );
  const salamander = {
    address: 'h.example',
    finalMask: '{"udp":[{"type":"salamander","settings":{"password":"p"}}]}',
  };
  const vm = linkOf(through(entry(uid('vmess')), salamander), '');
  const { fm } = JSON.parse(Buffer.from(vm.slice('vmess://'.length), 'base64').toString()) as { fm: string };
  t.is(fm.replace('"settings":{"password":"p"},', ''), GOLDEN['G11']?.[0] ?? 'none');
});

test('golden cases G27 and G34: parts of links', (t) => {
  const stream = {
    network: 'xhttp',
    xhttpSettings: {
      mode: 'packet-up',
      xPaddingBytes: '100-1000',
      sessionIDPlacement: 'header',
      sessionIDKey: 'X-Session',
      uplinkChunkSize: 4096,
      xmux: { maxConcurrency: '16-32' },
      headers: { Host: 'h', 'X-Forwarded': '1' },
    },
  };
  t.true(linkOf(inboundOf(vless, AT, stream), '').includes(`${GOLDEN['G27']?.[0]}&`));
  const gecko = (packetSize: string) =>
    linkOf(
      inboundOf(
        hysteria,
        AT,
        hy({
          ...tls('hy.sni'),
          finalmask: { udp: [{ type: 'salamander', settings: { password: 'pw', packetSize } }] },
        }),
      ),
      '',
    );
  const link = gecko('512-1200');
  for (const part of GOLDEN['G34'] ?? ['none']) t.true(link.includes(part), part);
  t.notRegex(link, /fm=|obfs=salamander/);
  for (const range of ['0-1200', '1200-512', '512-4096', ' 512 - 1200 ', '+512-1200'])
    t.regex(gecko(range), /obfs=salamander/, range);
});

test('golden cases G47, G48: names', (t) => {
  for (const [number, names] of [
    ['G47', ['DE-john@x|📊80.00GB|⏳10D', 'DE']],
    ['G48', ['Сервер 1']],
  ] as const)
    t.deepEqual(
      names.map((name) => `#${encodeFragment(name)}`),
      GOLDEN[number],
    );
});

test('golden cases G52, G53: hosts of tunnels', (t) => {
  const wg = entry(WG, { ...own, port: 51_820 });
  const hosts: readonly Host[] = [
    { address: 'wg.example.com', port: 443 },
    { address: 'wg2.example.com', port: 0 },
  ];
  const [a, b, ...names] = GOLDEN['G52'] ?? [];
  t.deepEqual(
    hosts.map(
      (host, i) => new URL(linkOf(through(wg, host), names[i] ?? '').replace('wireguard', 'http')).host,
    ),
    [a, b],
  );
  t.true(linkOf(wg, names[0] ?? '').endsWith('#wg-in-CDN-A-alice%40wg'));
  const [endpoint = '', remark = ''] = GOLDEN['G53'] ?? [];
  const link = linkOf(
    through(entry(AWG, { ...own, port: 51_820 }), { address: 'awg.example.com', port: 8443 }),
    remark.slice(2),
  );
  const lines = Buffer.from(link.slice('vpn://'.length), 'base64url').toString().split('\n');
  t.true(lines.includes(endpoint) && lines.includes(remark));
  t.false(lines.some((line) => line.includes('203.0.113.1')));
});

test('golden cases G55, G56: base64 of any padding is read, and IPv6 has brackets once', (t) => {
  const reader = readerWith();
  for (const password of ['p', 'pa', 'pas', 'pass']) {
    const padded = Buffer.from(`aes-128-gcm:${password}`).toString('base64');
    for (const login of [padded, padded.replace(/=+$/, '')])
      t.is(reader.read(`ss://${login}@1.2.3.4:443`).account['password'], password);
  }
  for (const [server, authority] of [
    ['2001:db8::1', GOLDEN['G56']?.[0]],
    ['[2001:db8::1]', GOLDEN['G56']?.[0]],
    ['1.2.3.4', GOLDEN['G56']?.[1]],
  ] as const) {
    t.is(placeFor({ server: '', port: 443 })(server).authority, authority ?? 'none');
    t.true(linkOf(inboundOf(vless, `${server}:443`, {}), '').includes(`@${authority}?`));
  }
});

test('there is a test for each golden case', (t) => {
  const apart = ['G10', 'G11', 'G27', 'G34', 'G47', 'G48', 'G52', 'G53', 'G56'];
  t.deepEqual([...Object.keys(CASES), ...apart].sort(), Object.keys(GOLDEN).sort());
});
