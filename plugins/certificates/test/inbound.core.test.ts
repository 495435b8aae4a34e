// Runs a certificate authority. With a real core: an inbound gets its certificate, and then renewed ones, while a transfer goes on.
import { X509Certificate } from 'node:crypto';
import { connect as connectTls } from 'node:tls';
import { connect, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { freePort } from '../../../test/harness/free-port.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import type { CertificateReply } from '../fields.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
const PATH = '/panel/api/x/certificates';
const NAME = 'site.example.com';

/** Serial number of the certificate that a new connection gets. */
const shownAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connectTls(
      { host: '127.0.0.1', port, servername: NAME, rejectUnauthorized: false },
      () => {
        resolve(socket.getPeerCertificate().serialNumber.toLowerCase());
        socket.destroy();
      },
    );
    socket.on('error', reject);
  });

issuing('an inbound gets its certificate, and renewed ones, and a transfer through it goes on', async (t) => {
  await using pebble = await Pebble.start();
  const server = await openServer(t);
  const panel = await openPanel(t);
  await panel.get('/panel/api/setting/update', { body: pebble.settings });
  const own = selfSigned(NAME);
  const { certFile, keyFile } = await writePair(panel.dataDirectory, own);
  const port = await freePort();
  const pin = new X509Certificate(own.cert).fingerprint256.replaceAll(':', '').toLowerCase();
  const entry = { certificateFile: certFile, keyFile, ocspStapling: 1 };
  const tlsSettings = (entries: readonly object[]) => ({
    network: 'tcp',
    security: 'tls',
    tlsSettings: { serverName: NAME, certificates: entries, settings: { pinnedPeerCertSha256: [pin] } },
  });
  const id = await panel.addInbound({ port, tag: 'site', streamSettings: tlsSettings([entry]) });
  const bystander = await panel.addInbound();
  await panel.addClient('ann', [id]);
  await panel.addClient('bob', [bystander]);
  const [ann, bob] = [await connect(t, panel, 'ann', server), await connect(t, panel, 'bob', server)];
  const transfers = [ann.start(600 * MIB, MIB), bob.start(600 * MIB, MIB)];
  const goOn = async (what: string): Promise<void> => {
    const before = transfers.map(({ soFar }) => soFar);
    await panel.until(() => transfers.every(({ soFar }, i) => soFar > (before[i] ?? 0) + MIB / 2), what);
  };
  await goOn('both transfer');
  const { id: certificate } = await panel.get<CertificateReply>(PATH, {
    body: { names: [NAME], agreeToTerms: true, uses: { inbounds: ['site'] } },
  });
  const first = await panel.get<CertificateReply>(`${PATH}/${certificate}/issue`, { body: {} });
  t.is(first.lastError, '');
  t.is(await shownAt(port), first.serial);
  await goOn('both go on after the inbound was changed');
  const { streamSettings } = await panel.get<{ streamSettings: Record<string, unknown> }>(
    `/panel/api/inbounds/get/${id}`,
  );
  t.deepEqual(
    streamSettings,
    tlsSettings([{ ocspStapling: 1, certificateFile: first.certificateFile, keyFile: first.keyFile }]),
  );
  // From now on the core reads the files by itself; the entry above says each second.
  const second = await panel.get<CertificateReply>(`${PATH}/${certificate}/issue`, { body: {} });
  t.not(second.serial, first.serial);
  const began = Date.now();
  await panel.until(async () => (await shownAt(port)) === second.serial, 'the core shows the renewed one');
  t.log(`the core showed the renewed certificate after ${Date.now() - began} ms`);
  await goOn('both go on after the renewal');

  const { status, body } = await panel.call(`${PATH}/${certificate}/del`, { body: {} });
  t.is(status, 409);
  t.regex(body.msg, /is used by the inbound site; give them another one first/);
});
