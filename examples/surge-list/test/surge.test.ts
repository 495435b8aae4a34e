import test from 'ava';
import { FakeEngine, selfSigned, TestPanel } from '@weir-panel/weir/testing';
import surgeList from '../index.js';

const boot = () => TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [surgeList] });

async function listFor(
  panel: TestPanel,
  subId: string,
): Promise<{ status: number; type: string | null; text: string }> {
  const settings = await panel.get<Record<string, string>>('/panel/api/setting/all', { method: 'POST' });
  const answer = await fetch(`${panel.subscriptionUrl}${settings['surge-list.path']}${subId}`);
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

test('a line for each proxy that Surge speaks, and none for the others', async (t) => {
  await using panel = await boot();
  const { cert, key } = selfSigned();
  const tlsSettings = {
    serverName: 'a.example',
    certificates: [{ certificate: cert.trim().split('\n'), key: key.trim().split('\n') }],
  };
  const wsSettings = { path: '/way', host: 'a.example' };
  const password = Buffer.alloc(16, 7).toString('base64');
  const kinds: readonly (readonly [protocol: string, streamSettings: object, settings?: object])[] = [
    ['trojan', { network: 'tcp', security: 'tls', tlsSettings }],
    ['vmess', { network: 'ws', wsSettings, security: 'tls', tlsSettings }],
    ['vmess', { network: 'tcp' }],
    ['shadowsocks', { network: 'tcp' }, { method: 'chacha20-ietf-poly1305' }],
    ['shadowsocks', { network: 'tcp' }, { method: '2022-blake3-aes-128-gcm', password }],
    ['vless', { network: 'tcp' }],
    ['trojan', { network: 'tcp' }],
    ['vmess', { network: 'grpc' }],
    ['shadowsocks', { network: 'ws', wsSettings }, { method: 'aes-128-gcm' }],
    [
      'vmess',
      {
        network: 'tcp',
        tcpSettings: { header: { type: 'http', request: { path: ['/'], headers: { Host: ['a.example'] } } } },
      },
    ],
  ];
  const ids: number[] = [];
  for (const [protocol, streamSettings, settings] of kinds)
    ids.push(
      await panel.addInbound({ protocol, streamSettings, remark: 'a, b=c', ...(settings && { settings }) }),
    );
  t.true(
    (
      await panel.call('/panel/api/setting/update', {
        body: { remarkTemplate: '{{INBOUND}}', subDomain: 'vpn.example' },
      })
    ).body.success,
  );
  const ada = await panel.addClient('ada', ids, { password: 'pass, word' });
  const ports = (await panel.get<{ port: number }[]>('/panel/api/inbounds/list')).map(({ port }) => port);

  const { status, type, text } = await listFor(panel, ada.subId);
  t.is(status, 200);
  t.is(type, 'text/plain; charset=utf-8');
  const lines = text.split('\n');
  t.is(lines.pop(), '');
  t.deepEqual(lines.slice(0, 4), [
    `a b c = trojan, vpn.example, ${ports[0]}, password="pass, word", sni=a.example`,
    `a b c 2 = vmess, vpn.example, ${ports[1]}, username=${ada.uuid}, vmess-aead=true, tls=true, ws=true, ws-path=/way, ws-headers=Host:a.example, sni=a.example`,
    `a b c 3 = vmess, vpn.example, ${ports[2]}, username=${ada.uuid}, vmess-aead=true`,
    `a b c 4 = ss, vpn.example, ${ports[3]}, encrypt-method=chacha20-ietf-poly1305, password="pass, word"`,
  ]);
  t.regex(
    lines[4] ?? '',
    new RegExp(
      `^a b c 5 = ss, vpn.example, ${ports[4]}, encrypt-method=2022-blake3-aes-128-gcm, password=${password}:[\\w+/]{22}==$`,
    ),
  );
  t.is(lines.length, 5);
});

test('its settings take effect at once, and who may not connect gets an empty list', async (t) => {
  await using panel = await boot();
  const inbound = await panel.addInbound({ protocol: 'vmess' });
  const ada = await panel.addClient('ada', [inbound]);
  t.regex((await listFor(panel, ada.subId)).text, /^\S.* = vmess, /);
  const update = (body: object) => panel.call('/panel/api/setting/update', { body });
  t.true((await update({ 'surge-list.path': '/surge/' })).body.success);
  t.is((await fetch(`${panel.subscriptionUrl}/surge/${ada.subId}`)).status, 200);
  await panel.get('/panel/api/clients/update/ada', { body: { enable: false } });
  t.is((await listFor(panel, ada.subId)).text, '');
  t.true((await update({ 'surge-list.enable': false })).body.success);
  t.is((await listFor(panel, ada.subId)).status, 404);
});
