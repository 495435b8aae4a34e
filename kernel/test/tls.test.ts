import { writeFile } from 'node:fs/promises';
import { Agent, request as send } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import test from 'ava';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { selfSigned, writePair } from '../../test/harness/self-signed.js';
import { ConfigError } from '../../panel/variables.js';
import { call, people, until, World } from './world.js';
import { folderFor } from '../../test/harness/folder-for.js';

interface Secure {
  readonly status: number;
  readonly text: string;
  readonly cookies: readonly string[];
  /** of the server's certificate */
  readonly subject: string;
}

/** One request that trusts nothing but this certificate. */
function ask(
  port: number,
  path: string,
  ca: string,
  { agent, body }: { agent?: Agent; body?: unknown } = {},
): Promise<Secure> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = send(
      {
        host: '127.0.0.1',
        port,
        path,
        ca,
        agent: agent ?? false,
        method: text === undefined ? 'GET' : 'POST',
        headers: text === undefined ? {} : { 'content-type': 'application/json' },
      },
      (response) => {
        const subject = (response.socket as TLSSocket).getPeerCertificate().subject.CN as string;
        let words = '';
        response.on('data', (chunk: Buffer) => (words += chunk.toString()));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: words,
            cookies: response.headers['set-cookie'] ?? [],
            subject,
          }),
        );
      },
    );
    request.on('error', reject).end(text);
  });
}

test('serves HTTPS with certificate and key, logs it, and sets secure cookies', async (t) => {
  const pair = selfSigned();
  const { certFile, keyFile } = await writePair(await folderFor(t), pair);
  await using world = await World.boot([people], {
    env: { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile, WEIR_HOST: '0.0.0.0' },
  });
  t.is(world.kernel.listeners.panelUrl, `https://0.0.0.0:${world.port}/`);
  const login = await ask(world.port, '/login', pair.cert, { body: { name: 'ada' } });
  t.is(login.status, 200);
  t.regex(login.cookies[0] ?? '', /; Secure/);
  await t.throwsAsync(call(world.port, '/login'), { message: /hang up|reset/i });
  t.false(world.log.some(({ level }) => level === 'warn' || level === 'error'));
});

test('uses a renewed certificate while open connections continue', async (t) => {
  const folder = await folderFor(t);
  const [old, renewed] = [selfSigned('old.example'), selfSigned('renewed.example')];
  const { certFile, keyFile } = await writePair(folder, old);
  const clock = new FakeClock();
  await using world = await World.boot([people], {
    clock,
    env: { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  t.is((await ask(world.port, '/healthz', old.cert, { agent })).subject, 'old.example');

  // Half of it is there: the key does not fit. Said once, however often it is looked at.
  await writeFile(certFile, renewed.cert);
  for (const _ of [1, 2]) await world.kernel.listeners.renewCertificate();
  t.deepEqual(
    world.log
      .filter(({ level }) => level === 'error')
      .map(({ problem }) => String(problem).replaceAll(folder, '').split(':')[0]),
    ['/key.pem is not a PEM private key that matches the certificate in /cert.pem'],
  );
  t.is((await ask(world.port, '/healthz', old.cert)).subject, 'old.example');

  await writePair(folder, renewed);
  clock.tick(60_000);
  await until(() => world.log.some(({ msg }) => msg === 'the certificate was renewed'), 'the renewal');
  t.is((await ask(world.port, '/healthz', renewed.cert)).subject, 'renewed.example');
  t.is((await ask(world.port, '/healthz', old.cert, { agent })).status, 200, 'the open connection');
  await t.throwsAsync(ask(world.port, '/healthz', old.cert));
});

test('fails the start if a file is missing, has other content, or does not match the other', async (t) => {
  const folder = await folderFor(t);
  const { certFile, keyFile } = await writePair(folder, selfSigned());
  const other = join(folder, 'other.pem');
  await writeFile(other, selfSigned().key);
  const problemOf = async (env: Record<string, string>): Promise<string> => {
    const { problems } = await t.throwsAsync(World.boot([], { env }), { instanceOf: ConfigError });
    t.is(problems.length, 1);
    return (problems[0] ?? '').replaceAll(folder, '');
  };
  t.regex(
    await problemOf({ WEIR_TLS_CERT: certFile }),
    /^WEIR_TLS_CERT is set, but WEIR_TLS_KEY is not; set both .* or neither$/,
  );
  t.regex(await problemOf({ WEIR_TLS_KEY: keyFile }), /^WEIR_TLS_KEY is set, but WEIR_TLS_CERT is not/);
  t.regex(
    await problemOf({ WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: join(folder, 'gone.pem') }),
    /WEIR_TLS_KEY.*: \/gone\.pem cannot be read/,
  );
  t.regex(
    await problemOf({ WEIR_TLS_CERT: keyFile, WEIR_TLS_KEY: keyFile }),
    /: \/key\.pem is not a valid PEM certificate/,
  );
  t.regex(
    await problemOf({ WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: certFile }),
    /: \/cert\.pem is not a PEM private key that matches/,
  );
  t.regex(
    await problemOf({ WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: other }),
    /: \/other\.pem is not a PEM private key that matches the certificate in \/cert\.pem/,
  );
});

test('warns about plain HTTP on a reachable address, not on loopback', async (t) => {
  const warnings = async (host: string): Promise<string[]> => {
    await using world = await World.boot([], { env: { WEIR_HOST: host } });
    return world.log.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  };
  t.regex(
    (await warnings('0.0.0.0')).join(),
    /^the panel sends passwords and cookies unencrypted: set WEIR_TLS_CERT/,
  );
  for (const host of ['127.0.0.1', '127.0.0.2', 'localhost']) t.deepEqual(await warnings(host), [], host);
});
