// Runs a certificate authority. Orders by both challenges, and what is on the disk afterwards.
import { X509Certificate } from 'node:crypto';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { testUnless } from '../../../test/harness/left-out.js';
import type { CertificateReply } from '../fields.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
const PATH = '/panel/api/x/certificates';

async function panelAt(pebble: Pebble, settings: object = {}): Promise<TestPanel> {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  await panel.get('/panel/api/setting/update', { body: { ...pebble.settings, ...settings } });
  return panel;
}
const add = (panel: TestPanel, body: object): Promise<CertificateReply> =>
  panel.get(PATH, { body: { agreeToTerms: true, ...body } });

for (const challenge of ['http-01', 'tls-alpn-01'] as const)
  issuing(`issues a certificate by ${challenge}, and closes the port again`, async (t) => {
    await using pebble = await Pebble.start({ badNonces: 15 });
    await using panel = await panelAt(pebble);
    const names = ['vpn.example.com', 'xn--mnchen-3ya.example.com'];
    const { id, state } = await add(panel, { names: ['VPN.example.com.', 'münchen.example.com'], challenge });
    t.is(state, 'none');
    const issued = await panel.get<CertificateReply>(`${PATH}/${id}/issue`, { body: {} });
    t.is(issued.state, 'valid');
    t.is(issued.lastError, '');
    t.regex(issued.issuer, /Pebble/);
    const leaf = new X509Certificate(await readFile(issued.certificateFile));
    for (const name of names) t.is(leaf.checkHost(name), name);
    t.is(leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
    t.is(issued.serial, leaf.serialNumber.toLowerCase());
    t.is((await stat(issued.keyFile)).mode & 0o777, 0o600);
    const folder = dirname(dirname(issued.keyFile));
    t.is((await stat(folder)).mode & 0o777, 0o700);
    t.true((await lstat(dirname(issued.keyFile))).isSymbolicLink());
    t.is((await readdir(folder)).length, 2);
    t.true((issued.renewAt ?? 0) > Date.now() + 50 * 86_400_000);
    t.true((issued.renewAt ?? 0) < Date.parse(issued.validTo) - 29 * 86_400_000);
    // The port is free again.
    const server = createServer().listen(challenge === 'http-01' ? pebble.httpPort : pebble.tlsPort);
    await once(server, 'listening');
    server.close();
    const orders = await panel.get<{ state: string; url: string }[]>(`${PATH}/${id}/orders`);
    t.deepEqual(
      orders.map((order) => order.state),
      ['issued'],
    );
    t.true(orders[0]?.url.startsWith(new URL(pebble.directory).origin));
    t.deepEqual(panel.faults, []);
  });
