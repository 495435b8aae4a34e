// A new form, sent as it is, makes an inbound: of every protocol, over every network and security that it claims.
import test from 'ava';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { addEvery, generate, newStream } from './every-form.js';
import {
  faultsOf,
  fieldsOf,
  type Form,
  newForm,
  type ProtocolForm,
  protocolsOf,
  type TransportForms,
  transportsOf,
} from './forms.js';

let panel: TestPanel;
let protocols: readonly ProtocolForm[];
let transports: TransportForms;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  [protocols, transports] = [await protocolsOf(panel), await transportsOf(panel)];
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test('a new form of every protocol, network and security is valid, and inbounds/add takes it', async (t) => {
  // 6 networks with none, tls, and reality over three of them, for vless, vmess, trojan and shadowsocks, and more.
  t.true((await addEvery(t, panel)) > 60);
});

test('what a protocol does not claim is refused', async (t) => {
  for (const { name: protocol, streams, settings: form } of protocols) {
    if (streams.length === 0) continue;
    for (const { name: network } of transports.networks)
      for (const { name: security } of transports.securities) {
        if (streams.find((one) => one.network === network)?.securities.includes(security)) continue;
        const answer = await panel.call('/panel/api/inbounds/add', {
          body: {
            ...{ protocol, settings: newForm(form), port: await freePort(), listen: '127.0.0.1' },
            streamSettings: await newStream(panel, transports, network, security),
          },
        });
        t.is(answer.status, 400, `${protocol} over ${network} ${security}`);
      }
  }
});

test('generators are routes, and what they make is valid in the fields that they fill', async (t) => {
  const seen = new Set<string>();
  const routes = panel.kernel.listeners.routes().map(({ route, path }) => `${route.method} ${path}`);
  const look = async (name: string, form: Form): Promise<void> => {
    for (const [path, field] of fieldsOf(form)) {
      const { generator } = field['x-weir'] ?? {};
      if (!generator) continue;
      seen.add(generator.path);
      t.true(routes.includes(`${generator.method} ${generator.path}`), `${path} of ${name}`);
      if (path.includes('[]') || path.includes('.')) continue;
      const beside: Record<string, unknown> = { ...newForm(form), serverName: 'www.example.com' };
      const made = await generate(panel, generator, beside);
      t.true(path in made, `the generator of ${path} of ${name} fills another field`);
      for (const fault of faultsOf(form, { ...beside, ...made }))
        for (const filled of Object.keys(made)) t.false(fault.startsWith(`/${filled}`), `${name}: ${fault}`);
    }
  };
  for (const { name, settings, credential } of protocols) {
    await look(name, settings);
    if (credential) await look(name, credential);
  }
  for (const { key, settings } of transports.securities) if (settings) await look(key, settings);
  t.deepEqual([...seen].sort(), [
    '/panel/api/server/getNewEchCert',
    '/panel/api/server/getNewVlessEnc',
    '/panel/api/server/getNewX25519Cert',
    '/panel/api/server/getNewmldsa65',
    '/panel/api/x/keygen/reality',
    '/panel/api/x/keygen/shadowsocks',
    '/panel/api/x/keygen/wireguard',
  ]);
});
