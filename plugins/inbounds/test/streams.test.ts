// Checks of `streamSettings` and the settings of protocols, before the core gets them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import {
  FakeClock,
  FakeEngine,
  freePort,
  refused,
  selfSigned,
  TestPanel,
} from '../../../test/harness/index.js';

const pair = () => {
  const { cert, key } = selfSigned();
  return { certificate: cert.trim().split('\n'), key: key.trim().split('\n') };
};
const first = pair();
const second = pair();

let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

const tls = (settings: object) => ({ network: 'tcp', security: 'tls', tlsSettings: settings });
const privateKey = 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo';
const goodReality = { target: 'example.com:443', serverNames: ['example.com'], shortIds: [''], privateKey };
const reality = (settings: object, network = 'tcp') => ({
  network,
  security: 'reality',
  realitySettings: { ...goodReality, ...settings },
});

const WRONG: [what: string, field: string, body: Record<string, unknown>][] = [
  ['an unknown transport', 'streamSettings.network', { streamSettings: { network: 'carrier-pigeon' } }],
  ['an unknown security', 'streamSettings.security', { streamSettings: { security: 'xtls' } }],
  [
    'a path that is no text',
    'streamSettings.wsSettings.path',
    { streamSettings: { network: 'ws', wsSettings: { path: 5 } } },
  ],
  [
    'a path with a space',
    'streamSettings.httpupgradeSettings.path',
    { streamSettings: { network: 'httpupgrade', httpupgradeSettings: { path: '/a b' } } },
  ],
  [
    'a service name that is no text',
    'streamSettings.grpcSettings.serviceName',
    { streamSettings: { network: 'grpc', grpcSettings: { serviceName: 5 } } },
  ],
  [
    'an unknown mode of XHTTP',
    'streamSettings.xhttpSettings.mode',
    { streamSettings: { network: 'xhttp', xhttpSettings: { mode: 'fast' } } },
  ],
  [
    'an unknown header',
    'streamSettings.tcpSettings.header.type',
    { streamSettings: { network: 'tcp', tcpSettings: { header: { type: 'srtp' } } } },
  ],
  [
    'TLS without a certificate',
    'streamSettings.tlsSettings.certificates',
    { streamSettings: { network: 'tcp', security: 'tls' } },
  ],
  [
    'TLS with a list of none',
    'streamSettings.tlsSettings.certificates',
    { streamSettings: tls({ certificates: [] }) },
  ],
  [
    'a certificate without its key',
    'streamSettings.tlsSettings.certificates.0',
    { streamSettings: tls({ certificates: [{ certificate: first.certificate }] }) },
  ],
  [
    'garbage for a certificate',
    'streamSettings.tlsSettings.certificates.0',
    { streamSettings: tls({ certificates: [{ certificate: ['garbage'], key: first.key }] }) },
  ],
  [
    "another certificate's key",
    'streamSettings.tlsSettings.certificates.1',
    { streamSettings: tls({ certificates: [first, { ...first, key: second.key }] }) },
  ],
  [
    'a file that is not there',
    'streamSettings.tlsSettings.certificates.0.certificateFile',
    {
      streamSettings: tls({
        certificates: [{ certificateFile: '/nowhere/at.all', keyFile: '/nowhere/at.all' }],
      }),
    },
  ],
  [
    'REALITY without a target',
    'streamSettings.realitySettings',
    { streamSettings: reality({ target: undefined }) },
  ],
  [
    'REALITY without names',
    'streamSettings.realitySettings.serverNames',
    { streamSettings: reality({ serverNames: [] }) },
  ],
  [
    'REALITY without short ids',
    'streamSettings.realitySettings.shortIds',
    { streamSettings: reality({ shortIds: [] }) },
  ],
  [
    'a short id of odd length',
    'streamSettings.realitySettings.shortIds.0',
    { streamSettings: reality({ shortIds: ['abc'] }) },
  ],
  [
    'an invalid private key',
    'streamSettings.realitySettings.privateKey',
    { streamSettings: reality({ privateKey: 'short' }) },
  ],
  ['REALITY over a transport that cannot', 'streamSettings.security', { streamSettings: reality({}, 'ws') }],
  [
    'an unknown method of shadowsocks',
    'settings.method',
    { protocol: 'shadowsocks', settings: { method: 'rc4-md5' } },
  ],
  [
    'a key of a method for one user only',
    'settings',
    { protocol: 'shadowsocks', settings: { method: '2022-blake3-chacha20-poly1305', password: 'x' } },
  ],
  ['no method', 'settings.method', { protocol: 'shadowsocks', settings: {} }],
  [
    'a key of 2022 of the wrong length',
    'settings',
    {
      protocol: 'shadowsocks',
      settings: { method: '2022-blake3-aes-256-gcm', password: 'AAECAwQFBgcICQoLDA0ODw==' },
    },
  ],
];
test.serial('what is wrong with a certificate or a key is said in words', async (t) => {
  const said = async (certificate: object): Promise<string> => {
    const streamSettings = tls({ certificates: [certificate] });
    const body = { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), streamSettings };
    return (await panel.call('/panel/api/inbounds/add', { body })).body.msg;
  };
  t.regex(await said({ ...first, certificate: ['garbage'] }), /the certificate cannot be read: .*PEM/);
  t.regex(await said({ ...first, key: ['garbage'] }), /the key cannot be read: .*PEM/);
});
for (const [what, field, body] of WRONG) {
  test.serial(`${what} is refused and named`, async (t) => {
    await refused(
      t,
      panel,
      '/panel/api/inbounds/add',
      { body: { protocol: 'vless', listen: '127.0.0.1', port: await freePort(), ...body } },
      { status: 400, code: 'KERNEL_INVALID', field },
    );
  });
}

test.serial('a good pair is taken from the body and from files, and comes back as it was sent', async (t) => {
  const certificateFile = join(panel.dataDirectory, 'site.crt');
  const keyFile = join(panel.dataDirectory, 'site.key');
  await writeFile(certificateFile, first.certificate.join('\n'));
  await writeFile(keyFile, first.key.join('\n'));
  for (const given of [first, { certificateFile, keyFile }]) {
    const streamSettings = tls({
      certificates: [given],
      settings: { fingerprint: 'firefox' },
      somethingNew: 1,
    });
    const id = await panel.addInbound({ streamSettings });
    t.deepEqual(
      (await panel.get<{ streamSettings: unknown }>(`/panel/api/inbounds/get/${id}`)).streamSettings,
      streamSettings,
    );
  }
});

test("settings for the client's side alone never reach the core, and replace no inbound", async (t) => {
  const engine = new FakeEngine();
  await using own = await TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
  const id = await own.addInbound({
    streamSettings: reality({ settings: { publicKey: 'PBK', fingerprint: 'chrome' } }),
  });
  await own.addClient('a', [id]);
  const before = JSON.stringify(engine.configs);
  t.false(before.includes('PBK'));
  t.true(before.includes(privateKey));
  t.regex((await own.get<string[]>('/panel/api/clients/links/a'))[0] ?? '', /fp=chrome&pbk=PBK/);
  await own.get(`/panel/api/inbounds/update/${id}`, {
    body: { streamSettings: reality({ settings: { publicKey: 'PBK', fingerprint: 'firefox' } }) },
  });
  t.is(JSON.stringify(engine.configs), before);
  t.regex((await own.get<string[]>('/panel/api/clients/links/a'))[0] ?? '', /fp=firefox&pbk=PBK/);
});
