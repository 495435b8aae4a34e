// Hashes of certificates: of files, of texts, and of servers.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { readPreset } from '../../../panel/choose-plugins.js';
import { findPlugins } from '../../../panel/find-plugins.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { selfSigned } from '../../../test/harness/self-signed.js';
import { usersOf } from '../../../test/harness/users-of.js';

const SERVER = '/panel/api/server';
const boot = (env: Record<string, string> = {}) =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], env });
const coreHash = async (file: string): Promise<string> => {
  const command = process.env['WEIR_ENGINE_BIN'] ?? '';
  return (await promisify(execFile)(command, ['tls', 'hash', '--cert', file])).stdout;
};

test('a file, its text and its DER have the hash that the core finds', async (t) => {
  await using panel = await boot();
  const { cert } = selfSigned('one.example.com');
  const file = join(panel.dataDirectory, 'one.pem');
  await writeFile(file, cert);
  const hashes = (body: object) => panel.get<string[]>(`${SERVER}/getCertHash`, { body });
  const [hash = ''] = await hashes({ certFile: file });
  t.regex(hash, /^[0-9a-f]{64}$/);
  t.true((await coreHash(file)).includes(hash));
  const der = cert.replaceAll(/-----.*-----/g, '');
  t.deepEqual(await hashes({ certContent: cert }), [hash]);
  t.deepEqual(await hashes({ certContent: der }), [hash]);
  const other = selfSigned('two.example.com').cert;
  const [first, second] = await hashes({ certContent: `${other}\n${cert}` });
  t.deepEqual([first === hash, second], [false, hash], 'in their order');
  t.deepEqual(await hashes({ certFile: file, certContent: other }), [hash], 'the file takes precedence');
  const form = await panel.call(`${SERVER}/getCertHash`, {
    rawBody: String(new URLSearchParams({ certContent: cert })),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.deepEqual(form.body.obj, [hash]);
});

test('files outside, secrets of the panel and what is no certificate are refused', async (t) => {
  await using panel = await boot();
  const refused = async (t: ExecutionContext, body: object, says: RegExp): Promise<void> => {
    const reply = await panel.call(`${SERVER}/getCertHash`, { body });
    t.is(reply.status, 400);
    t.regex(reply.body.msg, says);
  };
  const { cert, key } = selfSigned();
  const broken = join(panel.dataDirectory, 'broken.pem');
  await writeFile(broken, 'nothing: of this kind!');
  await refused(t, {}, /certFile or certContent is missing/);
  await refused(t, { certFile: '/etc/hostname' }, /certFile: \/etc\/hostname is outside the folders/);
  await refused(t, { certFile: join(panel.dataDirectory, 'panel.secret') }, /belongs to the panel itself/);
  await refused(t, { certFile: join(panel.dataDirectory, 'none.pem') }, /certFile: /);
  await refused(t, { certFile: broken }, /certFile holds no certificate/);
  await refused(t, { certContent: key }, /certContent holds no certificate/);
  await refused(t, { certContent: 'AAAA' }, /the certificate in certContent cannot be read/);
  await refused(t, { certContent: cert + cert.replace(/\n.{20}/, '\nAAAA') }, /certificate 2 in certContent/);
  await refused(t, { certContent: cert.repeat(101) }, /more than 100 certificates/);
  await refused(t, { certContent: 'x'.repeat(300_000) }, /certContent/);
});

test('the certificate of a server, and sentences for those that cannot be asked', async (t) => {
  const { cert, key } = selfSigned('site.example.com');
  const server = createServer({ cert, key }, (socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (panel: TestPanel, named: string) =>
    panel.call(`${SERVER}/getRemoteCertHash`, { body: { server: named } });
  await using panel = await boot({ WEIR_OUTGOING_ALLOW: `keygen=${place}` });
  const { body } = await ask(panel, place);
  t.deepEqual(body.obj, await panel.get(`${SERVER}/getCertHash`, { body: { certContent: cert } }));
  for (const [named, says] of [
    ['', /server must be a host name or an address/],
    ['a b', /server must be a host name/],
    ['https://example.com', /server must be a host name/],
    ['*.example.com', /server must be a host name/],
    ['example.com:0', /server must be a host name/],
    ['127.0.0.1:1', /an address of this machine; if that is meant, add keygen=127\.0\.0\.1:1/],
    ['::1', /an address of this machine/],
    [panel.url.replace('http://', ''), /the panel's own listener/],
  ] as const) {
    const reply = await ask(panel, named);
    t.is(reply.status, 400, named);
    t.regex(reply.body.msg, says);
  }
  await using alone = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    without: ['outgoing', ...usersOf('outgoing', await findPlugins(await readPreset('standard')))],
  });
  t.regex((await ask(alone, place)).body.msg, /the plugin outgoing, .* is off; enable it/);
  await using strict = await boot();
  t.regex((await ask(strict, place)).body.msg, /WEIR_OUTGOING_ALLOW/);
});
