// Servers that REALITY can use, in a panel that trusts their authority: Node reads NODE_EXTRA_CA_CERTS when it starts.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../../test/harness/free-port.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { until } from '../../../test/harness/until.js';
import type { ScanResult } from '../scan-result.js';
import { hasHybrid } from '../key-exchange.js';
import { authority, tlsServer } from './servers.js';

const { root, between, leaf } = authority();
const good = leaf();
const chain = { cert: good.cert + between.cert, key: good.key };

/** The core as a TLS server that accepts X25519MLKEM768 only. */
async function hybridServer(t: ExecutionContext, folder: string): Promise<number> {
  const port = await freePort();
  const file = join(folder, 'hybrid.json');
  const lines = (pem: string) => pem.trim().split('\n');
  await writeFile(
    file,
    JSON.stringify({
      log: { loglevel: 'warning' },
      inbounds: [
        {
          listen: '127.0.0.1',
          port,
          protocol: 'trojan',
          settings: { clients: [{ password: 'x' }] },
          streamSettings: {
            security: 'tls',
            tlsSettings: {
              alpn: ['h2'],
              curvePreferences: ['X25519MLKEM768'],
              certificates: [{ certificate: lines(chain.cert), key: lines(chain.key) }],
            },
          },
        },
      ],
      outbounds: [{ protocol: 'freedom' }],
    }),
  );
  let said = '';
  const core = spawn(process.env['WEIR_ENGINE_BIN'] ?? 'xray', ['run', '-c', file]);
  core.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  t.teardown(() => core.kill('SIGKILL'));
  await until(() => said.includes('started'), 'the core has started');
  return port;
}

test('a server is feasible with TLS 1.3, h2, X25519 and a certificate that is trusted, in time and for the name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const trusted = join(folder, 'ca.pem');
  await writeFile(trusted, root.cert);
  const panel = await PanelProcess.start({
    env: { NODE_EXTRA_CA_CERTS: trusted, WEIR_OUTGOING_ALLOW: 'reality-scanner=127.0.0.1' },
  });
  t.teardown(() => panel.dispose());
  const scan = (target: string, sni?: string) =>
    panel.get<ScanResult>('/panel/api/server/scanRealityTarget', { body: { target, ...(sni && { sni }) } });
  const { port } = await tlsServer(t, chain);
  t.like(await scan(`127.0.0.1:${port}`), {
    target: `good.example.com:${port}`,
    certChainValid: true,
    certValid: true,
    feasible: true,
    reason: '',
  });
  t.like(await scan(`127.0.0.1:${port}`, 'good.example.com'), { feasible: true, certValid: true });
  t.like(await scan(`127.0.0.1:${port}`, 'bad.example.com'), {
    certChainValid: true,
    certValid: false,
    feasible: false,
    reason: 'the certificate is not for bad.example.com',
  });
  const expired = leaf({ from: -10, until: -3 });
  const early = leaf({ from: 3, until: 5 });
  const nameless = leaf({ name: 'Some Appliance', hosts: ['*.example.com'] });
  // Clients read only the alternative names.
  const common = leaf({ name: 'cn.example.com', hosts: [] });
  const alone = issueOf(good.cert, good.key);
  const late = authorityThatExpired();
  for (const [{ cert, key }, fields, says] of [
    [
      issueOf(expired.cert + between.cert, expired.key),
      { certChainValid: false },
      /^the certificate is not trusted: it expired on \d{4}-\d\d-\d\d$/,
    ],
    [
      issueOf(early.cert + between.cert, early.key),
      { certChainValid: false },
      /^the certificate is not trusted: it is not valid yet$/,
    ],
    [late, { certChainValid: false }, /^the certificate is not trusted: its issuer has expired$/],
    [alone, { certChainValid: false }, /the server does not send the certificates between/],
    [
      issueOf(nameless.cert + between.cert, nameless.key),
      { certChainValid: true, certValid: false },
      /^the certificate has no domain name$/,
    ],
    [
      issueOf(common.cert + between.cert, common.key),
      { certChainValid: true, certValid: false, certSubject: 'cn.example.com', serverNames: [] },
      /^the certificate is not for cn\.example\.com$/,
    ],
    // A certificate that the chain does not need counts among its bytes.
    [issueOf(chain.cert + root.cert, good.key), { feasible: true }, /^$/],
  ] as const) {
    const server = await tlsServer(t, { cert, key });
    const result = await scan(`127.0.0.1:${server.port}`);
    t.like(result, fields, JSON.stringify(result));
    t.regex(result.reason, says);
    t.is(result.certChainBytes, sizeOf(cert), 'what the server sends, and no root of this machine');
  }
  const only12 = await tlsServer(t, { ...chain, maxVersion: 'TLSv1.2' });
  t.is((await scan(`127.0.0.1:${only12.port}`)).reason, 'the server does not use TLS 1.3, but 1.2');

  const hybrid = await scan(`127.0.0.1:${await hybridServer(t, folder)}`, 'good.example.com');
  if (hasHybrid) t.like(hybrid, { curveID: 'X25519MLKEM768', x25519: true, feasible: true });
  else
    t.regex(hybrid.reason, /it may accept X25519MLKEM768 only, which the TLS of Node \d+\S* does not have$/);
});

const issueOf = (cert: string, key: string) => ({ cert, key });
const sizeOf = (pem: string): number =>
  pem
    .split('-----END CERTIFICATE-----')
    .map((part) => Buffer.from(part.replaceAll(/-----.*-----|\s/g, ''), 'base64').length)
    .reduce((sum, bytes) => sum + bytes, 0);

/** A leaf in time below an authority that is not. */
function authorityThatExpired() {
  const expired = leaf({ name: 'Late', isAuthority: true, issuer: root, hosts: [], from: -10, until: -3 });
  const below = leaf({ issuer: expired });
  return issueOf(below.cert + expired.cert, below.key);
}
