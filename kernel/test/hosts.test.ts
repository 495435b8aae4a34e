// Under which names the panel is asked for, and what of them it believes.
import test, { type ExecutionContext } from 'ava';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as sendSecurely } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned, writePair } from '../../test/harness/self-signed.js';
import { Proxies } from '../../net/proxies.js';
import { AllowedHosts } from '../../net/allowed-hosts.js';
import { hostName } from '../../net/host-name.js';
import { shop } from './shop.js';
import { people, World } from './world.js';

async function boot(t: ExecutionContext, env: Record<string, string> = {}): Promise<World> {
  const world = await World.boot([shop, people], { env });
  t.teardown(() => world[Symbol.asyncDispose]());
  return world;
}
const asked = async (world: World, headers: Record<string, string>) =>
  (await world.call('/asked', { headers })).body.obj as { host: string; ip: string };

/** What comes back for bytes that no client would send; without what differs each time. */
function exchange(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    });
    socket
      .on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      .on('error', reject)
      .on('close', () =>
        resolve(text.replace(/^Date: .*\r\n/m, '').replace(/"requestId":"[^"]*"/, '"requestId":""')),
      );
  });
}

test('accepts only a host name or an address as the host of a request', async (t) => {
  const world = await boot(t);
  for (const [header, host] of [
    ['panel.example:2053', 'panel.example'],
    ['Panel.Example.', 'panel.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['my_box', 'my_box'],
    ['198.51.100.7:80', '198.51.100.7'],
    ['[2001:DB8:0:0::1]:80', '2001:db8::1'],
    ['[::ffff:c633:6407]', '198.51.100.7'],
    ['a"b<script>', ''],
    ["x'onload=1", ''],
    ['a b', ''],
    ['user@panel.example', ''],
    ['panel.example/path', ''],
    ['panel.example:80:80', ''],
    ['panel.example:x', ''],
    ['[::1', ''],
    ['[panel.example]', ''],
    ['2001:db8::1', ''],
    ['1.2.3', ''],
    ['256.1.1.1', ''],
    ['0x7f.1', ''],
    ['-a.example', ''],
    ['a..example', ''],
    [`${'a'.repeat(64)}.example`, ''],
    [`${'a.'.repeat(127)}aa`, ''],
  ] as const)
    t.is((await asked(world, { host: header })).host, host, header);
  t.is(hostName('panel.example:80'), undefined);
  t.is(hostName('fe80::1%eth0'), 'fe80::1');
});

test('accepts hops with a port, and treats all notations of an address as one', async (t) => {
  const world = await boot(t, { WEIR_TRUSTED_PROXIES: '::ffff:127.0.0.0/104,2001:db8::1' });
  for (const [hops, ip] of [
    ['198.51.100.7:567', '198.51.100.7'],
    ['[2001:db8::7]:567', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:0DB8:0000:0000:0000:0000:0000:0007', '2001:db8::7'],
    ['::ffff:c633:6407', '198.51.100.7'],
    ['0:0:0:0:0:ffff:c633:6407', '198.51.100.7'],
    ['[::FFFF:198.51.100.7]:1', '198.51.100.7'],
    ['198.51.100.7, [2001:db8:0::1]:443, 127.0.0.1:80, ::ffff:7f00:2', '198.51.100.7'],
    ['198.51.100.7:, 127.0.0.2', '127.0.0.2'],
    ['198.51.100.7:port', '127.0.0.1'],
  ] as const)
    t.is((await asked(world, { 'x-forwarded-for': hops })).ip, ip, hops);
});

test('with a list of hosts, answers only for these and on loopback', async (t) => {
  const world = await boot(t);
  const { listeners } = world.kernel;
  const ask = (host: string, path = '/public') => world.call(path, { headers: { host } });
  t.is((await ask('evil.example')).status, 200, 'without a list every host is allowed');

  listeners.allowHosts(['Panel.example', '2001:DB8:0::7'], 'here is the way out');
  for (const host of [
    'panel.example',
    'PANEL.example.:2053',
    '[2001:db8::7]:2053',
    'localhost:1',
    'x.localhost',
    '127.0.0.1',
    '127.9.9.9:80',
    '[::1]:2053',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
  ])
    t.is((await ask(host)).status, 200, host);
  for (const host of [
    'evil.example',
    'panel.example.evil.example',
    'xpanel.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '198.51.100.7',
    'panel.example,evil.example',
    'a"b<script>',
  ]) {
    const { status, body } = await ask(host);
    t.deepEqual([status, body.code], [421, 'KERNEL_HOST'], host);
    t.regex(body.msg, /; here is the way out$/);
  }
  t.regex((await ask('evil.example')).body.msg, /"evil\.example"/);
  t.is((await ask('198.51.100.7', '/healthz')).status, 200, 'watchdogs ask by address');
  t.is((await ask('evil.example', '/nothing-here')).status, 404);
  const old = await exchange(world.port, 'GET /public HTTP/1.0');
  t.regex(old, /^HTTP\/1\.1 421 /, 'without a Host header');

  listeners.allowHosts([], '');
  t.is((await ask('evil.example')).status, 200);
});

test('always allows the host that the panel listens on', (t) => {
  const hosts = new AllowedHosts('2001:DB8::7', new Proxies([]), Error);
  t.is(hosts.refused(['panel.example'], ['2001:db8::7', 'panel.example']), undefined);
  t.is(hosts.refused(['panel.example'], ['2001:db8::7', '2001:db8::8']), '2001:db8::8');
});

test("behind a proxy, checks the forwarded host and the proxy's own host", async (t) => {
  const world = await boot(t, { WEIR_TRUSTED_PROXIES: '127.0.0.1' });
  world.kernel.listeners.allowHosts(['panel.example'], 'x');
  const status = async (host: string, forwarded: string) =>
    (await world.call('/public', { headers: { host, 'x-forwarded-host': forwarded } })).status;
  t.is(await status('127.0.0.1:2053', 'panel.example'), 200);
  t.is(await status('panel.example', 'panel.example:443'), 200);
  t.is(await status('127.0.0.1:2053', 'evil.example'), 421);
  t.is(await status('evil.example', 'localhost'), 421, 'a page of evil.example can set that header');
});

test('answers an undecodable path like a wrong base path', async (t) => {
  const world = await boot(t);
  world.kernel.listeners.panel.mountAt('/secret/');
  t.is((await world.call('/secret/public')).status, 200);
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'])
    for (const rest of [
      '%',
      '%zz',
      '%C3%28',
      '%00',
      '%ED%A0%80',
      'named/%',
      'named/%80',
      'x',
      '',
      '//',
      '?%',
    ]) {
      const [right, wrong] = await Promise.all(
        ['secret', 'wrong1'].map((base) =>
          exchange(world.port, `${method} /${base}/${rest} HTTP/1.1\r\nHost: a\r\nContent-Length: 0`),
        ),
      );
      t.regex(right ?? '', /^HTTP\/1\.1 404 /, `${method} ${rest}`);
      t.is(right, wrong, `${method} ${rest}`);
    }
  t.deepEqual(world.faults(), []);
});

const STS = 'strict-transport-security';
test('sends HSTS to callers over TLS under a host name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-sts-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const pair = selfSigned();
  const { certFile, keyFile } = await writePair(folder, pair);
  const world = await boot(t, { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile });
  const header = (host: string, path = '/public') =>
    new Promise<unknown>((resolve, reject) => {
      sendSecurely(
        {
          port: world.port,
          host: '127.0.0.1',
          path,
          ca: pair.cert,
          servername: 'localhost',
          agent: false,
          headers: { host },
        },
        (response) => {
          response.resume();
          resolve(response.headers[STS]);
        },
      )
        .on('error', reject)
        .end();
    });
  t.is(await header('panel.example:2053'), 'max-age=15552000');
  t.is(await header('panel.example', '/nothing-here'), 'max-age=15552000', 'failures too');
  for (const host of ['127.0.0.1', 'localhost:2053', '198.51.100.7', '[2001:db8::7]', 'a"b'])
    t.is(await header(host), undefined, host);
});

test('believes only a trusted proxy that a request came over TLS', async (t) => {
  const headers = { host: 'panel.example', 'x-forwarded-proto': 'https' };
  const trusting = await boot(t, { WEIR_TRUSTED_PROXIES: '127.0.0.1' });
  t.is((await trusting.call('/public', { headers })).headers[STS], 'max-age=15552000');
  t.is(
    (await trusting.call('/public', { headers: { ...headers, 'x-forwarded-proto': 'http' } })).headers[STS],
    undefined,
  );
  const alone = await boot(t);
  t.is((await alone.call('/public', { headers })).headers[STS], undefined);
});

test('rejects a body that is not UTF-8', async (t) => {
  const world = await boot(t);
  const send = (path: string, type: string, raw: Buffer) =>
    world.call(path, { raw, headers: { 'content-type': type } });
  const bad = [Buffer.from([0xff]), Buffer.from([0xc3, 0x28]), Buffer.from([0xed, 0xa0, 0x80])];
  const around = (before: string, bytes: Buffer, after = '') =>
    Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
  const refused = async (path: string, type: string, raw: Buffer) => {
    const { status, body } = await send(path, type, raw);
    t.deepEqual([status, body.code, body.msg], [400, 'KERNEL_BAD_BODY', 'the body is not valid UTF-8']);
  };
  const FORM = 'application/x-www-form-urlencoded';
  for (const bytes of bad) {
    await refused('/json', 'application/json', around('{"count":1,"note":"', bytes, '"}'));
    await refused('/json', 'application/json; charset=utf-8', around('{"count":1,"', bytes, '":1}'));
    await refused('/form', FORM, around('count=1&note=', bytes));
    const escaped = [...bytes].map((byte) => `%${byte.toString(16)}`).join('');
    await refused('/form', FORM, Buffer.from(`count=1&note=${escaped}`));
  }
  const good = await send('/json', 'application/json', Buffer.from('{"count":1,"note":"ä€😀"}'));
  t.deepEqual(good.body.obj, { count: 1, note: 'ä€😀' });
  for (const text of ['count=1&note=100%', 'count=1&note=%C3%A4+%F0%9F%98%80', 'count=1&note=ä'])
    t.is((await send('/form', FORM, Buffer.from(text))).status, 200, text);
});
