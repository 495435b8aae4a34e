// A page that validates with the schemas, and the panel, say the same of a value.
import test from 'ava';
import { Agreement, REALITY, TLS, type Values } from './agree.js';
import { faultsOf, type Form, protocolsOf, settingsOf, transportsOf } from './forms.js';

let agreement: Agreement;
test.before(async () => {
  agreement = await Agreement.boot();
});
test.after.always(() => agreement?.panel[Symbol.asyncDispose]());

/** One of each type, and some that are only nearly right. */
const VALUES = [5, -1, true, null, [], {}, 'x', [5]];

test('every field of every form of inbounds', async (t) => {
  let count = 0;
  for (const sweep of await agreement.sweeps()) count += await agreement.sweep(t, VALUES, sweep);
  t.true(count > 1500, `only ${count}`);
});

const STREAMS: readonly Values[] = [
  {},
  { network: 'ws' },
  { network: 'websocket', wsSettings: { path: '/a' } },
  { network: 'h3' },
  { network: null },
  { security: 'xtls' },
  { security: 'tls' },
  { security: 'tls', tlsSettings: { certificates: [] } },
  { security: 'tls', tlsSettings: TLS },
  { security: 'none', tlsSettings: { certificates: 5 } },
  { network: 'ws', security: 'reality', realitySettings: REALITY },
  { network: 'raw', security: 'reality', realitySettings: REALITY },
  { security: 'reality', realitySettings: { ...REALITY, target: undefined } },
  { security: 'reality', realitySettings: { ...REALITY, target: undefined, dest: 443 } },
  { security: 'reality', realitySettings: { ...REALITY, shortIds: ['abc'] } },
  { network: 'tcp', grpcSettings: { serviceName: 5 } },
  { network: 'tcp', splithttpSettings: { mode: 'fast' } },
  { network: 'tcp', sockopt: { mark: 'x' } },
  { network: 'tcp', future: { any: 'thing' } },
];
test('whole streams', async (t) => {
  const { streamSettings } = await transportsOf(agreement.panel);
  for (const stream of STREAMS) {
    // As a page sends it.
    const sent = JSON.parse(JSON.stringify(stream)) as Values;
    const faults = faultsOf(streamSettings, sent);
    const fault = await agreement.fault({ protocol: 'vless', streamSettings: sent });
    t.deepEqual(agreement.difference(JSON.stringify(sent), faults, fault), []);
  }
});

const ITEMS: readonly (readonly [protocol: string, settings: Values])[] = [
  ['http', { accounts: [{ user: 'a', pass: 'b' }] }],
  ['http', { accounts: [{ user: 'a' }] }],
  ['http', { accounts: [{ user: 'a:b', pass: 'b' }] }],
  ['http', { accounts: [{ user: '', pass: 'b' }] }],
  ['mixed', { auth: 'noauth', accounts: [5] }],
  ['wireguard', { peers: [{ publicKey: 'short' }] }],
  ['wireguard', { peers: [{ publicKey: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', keepAlive: 25 }] }],
  ['wireguard', { peers: [{ publicKey: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=', keepAlive: -1 }] }],
  ['tunnel', { portMap: { 80: 'example.com:80' } }],
  ['tunnel', { portMap: { 80: 'example.com' } }],
  ['shadowsocks', { method: '2022-blake3-aes-128-gcm', password: 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ['shadowsocks', { method: '2022-blake3-aes-256-gcm', password: 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ['shadowsocks', { method: '2022-blake3-aes-256-gcm', password: null }],
  ['shadowsocks', { method: 'aes-256-gcm', password: 'anything' }],
  ['shadowsocks', { method: 'aes-256-gcm', password: null }],
  ['shadowsocks', { method: 'rc4' }],
  ['amneziawg', { server: { jc: 5, future: true } }],
  ['amneziawg', { server: { s1: 5000 } }],
];
test('examples of protocols', async (t) => {
  const protocols = await protocolsOf(agreement.panel);
  for (const [protocol, settings] of ITEMS) {
    const form = protocols.find(({ name }) => name === protocol)?.settings ?? {};
    const fault = await agreement.fault({ protocol, settings });
    t.deepEqual(
      agreement.difference(`${protocol} ${JSON.stringify(settings)}`, faultsOf(form, settings), fault),
      [],
    );
  }
});

const WRONG_SETTINGS: readonly Values[] = [
  { pageSize: -1 },
  { pageSize: '25' },
  { datepicker: 'lunar' },
  { sessionMaxAge: 0 },
  { subPort: 70_000 },
  { subEnable: 'yes' },
  { smtpEncryptionType: 'ssl' },
  { smtpEnabledEvents: ['a', 'a'] },
  { metricsMostClients: 1.5 },
  { subMissLimit: null },
];
test('settings: what the schema refuses, the panel refuses; what a fresh panel has, both take', async (t) => {
  const { plugins } = await settingsOf(agreement.panel);
  const all = Object.assign({}, ...plugins.map(({ settings }) => settings.properties)) as Record<
    string,
    Form
  >;
  for (const [name, field] of Object.entries(all))
    if ('default' in field) t.deepEqual(faultsOf(field, field.default), [], name);
  for (const values of WRONG_SETTINGS)
    for (const [name, value] of Object.entries(values)) {
      t.true(faultsOf(all[name] ?? {}, value).length > 0, `${name} = ${JSON.stringify(value)}`);
      const answer = await agreement.panel.call('/panel/api/setting/update', { body: values });
      t.is(answer.status, 400, `${JSON.stringify(values)}: ${answer.text}`);
    }
  t.true((await agreement.settings(t, [-1, null, {}, [5]])) > 500);
});
