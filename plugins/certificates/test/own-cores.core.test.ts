// Runs a certificate authority. Runs on every database in test:full.
// Two panels, each with a real core: both show the renewed certificate of an inbound at once where the previous one ends soon.
import { tmpdir } from 'node:os';
import { connect as connectTls } from 'node:tls';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { freePort } from '../../../test/harness/free-port.js';
import { type Declare, testUnless } from '../../../test/harness/left-out.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';
import { inARow, own } from '../../cluster/test/own-cores.js';
import { Panels } from '../../cluster/test/two-panels.js';
import type { CertificateReply } from '../fields.js';
import { PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing: Declare = onSqlite ? test.skip : testUnless(authorityMissing());
const NAME = 'site.example.com';

const shownAt = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connectTls(
      { host: '127.0.0.1', port, servername: NAME, rejectUnauthorized: false },
      () => {
        resolve(socket.getPeerCertificate().serialNumber.toLowerCase());
        socket.destroy();
      },
    );
    socket.on('error', () => resolve(''));
  });

issuing('a certificate that ends within two hours is replaced in the cores of all panels', async (t) => {
  await using pebble = await Pebble.start({ life: 3600 });
  await using panels = await Panels.open();
  // Files of inbounds have the path of the panel that ordered; on one machine each panel finds them.
  const env = { ...own('standard'), WEIR_CERTIFICATE_DIRS: tmpdir() };
  const [a, b] = [await panels.start('a', env), await panels.start('b', env)];
  for (const panel of [a, b])
    await panel.until(async () => (await panel.corePid()) !== undefined, 'each panel has a core');
  await a.get('/panel/api/setting/update', { body: pebble.settings });
  const { certFile, keyFile } = await writePair(a.dataDirectory, selfSigned(NAME));
  const port = await freePort();
  await a.addInbound({
    port,
    tag: 'site',
    streamSettings: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: { serverName: NAME, certificates: [{ certificateFile: certFile, keyFile }] },
    },
  });
  const { id } = await a.get<CertificateReply>(PATH, {
    body: { names: [NAME], agreeToTerms: true, uses: { inbounds: ['site'] } },
  });
  // The second order of each changes only files: their paths are those of the panel that orders.
  for (const panel of [a, a, b, b]) {
    const issued = await panel.get<CertificateReply>(`${PATH}/${id}/issue`, { body: {} });
    t.is(issued.lastError, '');
    await inARow(a, 'each core shows the new one', async () => (await shownAt(port)) === issued.serial);
  }
  t.regex(String(b.said('the files of a certificate do not follow the database')?.['problem']), /same path/);
  t.deepEqual([...a.faults, ...b.faults], []);
});
