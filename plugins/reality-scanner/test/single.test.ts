// One server after another, as a panel sees it: real TLS on loopback.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { hostname } from 'node:os';
import test from 'ava';
import { issue } from '../../../test/harness/self-signed.js';
import { proxyHeader } from '../proxy-header.js';
import { authority, nameServer, rawServer, tlsServer } from './servers.js';
import { boot, scan, scanWith } from './world.js';

const { between, leaf } = authority();
const good = leaf();
const chain = { cert: good.cert + between.cert, key: good.key };
nameServer({
  'good.example.com': ['127.0.0.1'],
  'six.example.com': ['::1'],
  'private.example.com': ['10.1.2.3'],
  'mixed.example.com': ['10.1.2.3', '127.0.0.1'],
});

test('shows every field of a server that has TLS 1.3, h2 and X25519, but no trusted certificate', async (t) => {
  await using panel = await boot();
  const { port, names } = await tlsServer(t, chain);
  const result = await scan(panel, `Good.Example.com.:${port}`);
  const { certChainBytes, latencyMs, notAfter, reason, ...rest } = result;
  t.deepEqual(rest, {
    target: `good.example.com:${port}`,
    host: 'good.example.com',
    ip: '127.0.0.1',
    port,
    privateTarget: true,
    tlsVersion: '1.3',
    tls13: true,
    alpn: 'h2',
    h2: true,
    curveID: 'X25519',
    x25519: true,
    certSubject: 'good.example.com',
    certIssuer: 'Test Trust',
    serverNames: ['good.example.com'],
    certChainValid: false,
    certValid: false,
    feasible: false,
  });
  t.regex(reason, /^the certificate is not trusted: its issuer is not trusted, or the server/);
  const bytes = [good, between].map(({ cert }) =>
    Buffer.from(cert.replaceAll(/-----.*-----|\s/g, ''), 'base64'),
  );
  t.is(certChainBytes, Buffer.concat(bytes).length, 'what the server sent, exactly');
  t.true(latencyMs > 0 && latencyMs < 5000);
  t.regex(notAfter, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  t.deepEqual(names, ['good.example.com']);
  t.deepEqual(panel.faults, []);
});

test('says what is missing: TLS 1.3, h2, X25519, a certificate for the name', async (t) => {
  await using panel = await boot();
  const expired = leaf({ from: -10, until: -3 });
  const other = leaf({ name: 'other.example.com', hosts: ['*.other.example.com', 'other.example.com'] });
  const own = issue({ name: 'good.example.com', hosts: ['good.example.com'] });
  const early = leaf({ from: 3, until: 5 });
  const pair = ({ cert, key }: { cert: string; key: string }) => ({ cert, key });
  for (const [options, fields, says] of [
    [
      { maxVersion: 'TLSv1.2' },
      { tlsVersion: '1.2', tls13: false, x25519: true },
      /does not use TLS 1\.3, but 1\.2/,
    ],
    [{ ALPNProtocols: ['http/1.1'] }, { alpn: 'http/1.1', h2: false }, /the server does not offer h2/],
    [{ ALPNProtocols: undefined }, { alpn: '', h2: false }, /the server does not offer h2/],
    [
      { ecdhCurve: 'P-256' },
      { curveID: 'P-256', x25519: false, tls13: true },
      /the key exchange is not X25519, but P-256/,
    ],
    [
      { ecdhCurve: 'P-384:P-256', maxVersion: 'TLSv1.2', ALPNProtocols: undefined },
      { curveID: 'P-384', alpn: '' },
      /TLS 1\.3, but 1\.2; the server does not offer h2; the key exchange is not X25519, but P-384$/,
    ],
    [pair(expired), { tls13: true, certChainValid: false }, /the certificate is not trusted/],
    [pair(own), { certIssuer: 'good.example.com' }, /not trusted: it is self-signed/],
    [
      pair(issue({ ...own, hosts: ['good.example.com'], from: -10, until: -3 })),
      {},
      /not trusted: it (is self-signed|expired on)/,
    ],
    [pair(early), { tls13: true }, /the certificate is not trusted/],
    [pair(other), { serverNames: ['other.example.com'], certSubject: 'other.example.com' }, /not trusted/],
  ] as const) {
    const { port } = await tlsServer(t, { ...chain, ...options } as object);
    const result = await scan(panel, `good.example.com:${port}`);
    t.like(result, { ...fields, feasible: false }, JSON.stringify(result));
    t.regex(result.reason, says);
    t.true(result.latencyMs > 0);
  }
});

test('reads an address without a name by its certificate, IPv6 too, and asks for the name that it is given', async (t) => {
  await using panel = await boot();
  const { port, names } = await tlsServer(t, chain);
  const found = { target: `good.example.com:${port}`, host: 'good.example.com', ip: '127.0.0.1', port };
  t.like(await scan(panel, `127.0.0.1:${port}`), found);
  t.like(await scan(panel, `127.0.0.1:${port}`, ' bücher.example '), {
    target: `127.0.0.1:${port}`,
    host: 'xn--bcher-kva.example',
    ip: '127.0.0.1',
  });
  t.deepEqual(names, ['xn--bcher-kva.example'], 'no name for an address');
  const six = await tlsServer(t, chain, '::1').catch(() => undefined);
  if (six) {
    t.like(await scan(panel, `[::1]:${six.port}`), {
      ip: '::1',
      host: 'good.example.com',
      privateTarget: true,
    });
    t.like(await scan(panel, `six.example.com:${six.port}`), { ip: '::1', host: 'six.example.com' });
  } else t.log('no IPv6 here');
  const nameless = leaf({ name: 'Some Appliance', hosts: ['*.example.com'] });
  const bare = await tlsServer(t, { cert: nameless.cert, key: nameless.key });
  const result = await scan(panel, `127.0.0.1:${bare.port}`);
  t.like(result, {
    target: `127.0.0.1:${bare.port}`,
    host: '127.0.0.1',
    serverNames: [],
    certSubject: 'Some Appliance',
  });
});

test('addresses that are not public need permission, also those that a name leads to', async (t) => {
  const { port } = await tlsServer(t, chain);
  await using panel = await boot({ allow: '' });
  for (const target of [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `good.example.com:${port}`,
    'private.example.com',
    `mixed.example.com:${port}`,
    '10.0.0.1',
    '169.254.169.254:80',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::a00:1]:443',
    '0.0.0.0',
    `${hostname()}:${port}`,
  ]) {
    const result = await scan(panel, target);
    t.like(result, { privateTarget: true, feasible: false, latencyMs: 0, tlsVersion: '' }, target);
    t.regex(
      result.reason,
      /^the connection failed: .*add reality-scanner=.* to WEIR_OUTGOING_ALLOW .*, or send allowPrivate$/,
      target,
    );
  }
  const own = await scan(panel, panel.url.replace('http://', ''));
  t.regex(own.reason, /the panel's own listener panel/);
  for (const target of [`127.0.0.1:${port}`, `good.example.com:${port}`])
    t.like(
      await scanWith(panel, { target, allowPrivate: true }),
      { tls13: true, privateTarget: true },
      target,
    );
  t.like(await scan(panel, `127.0.0.1:${port}`), { tls13: false }, 'one call permits nothing for the next');
  const still = await scanWith(panel, { target: panel.url.replace('http://', ''), allowPrivate: true });
  t.regex(still.reason, /the panel's own listener panel, which no plugin may call$/);
  await using loose = await boot();
  t.like(await scan(loose, `mixed.example.com:${port}`), {
    ip: '127.0.0.1',
    tls13: true,
    privateTarget: true,
  });
});

test('a server behind the PROXY protocol is scanned with its header, also from a form', async (t) => {
  const { port } = await tlsServer(t, chain);
  const headers: Buffer[] = [];
  const expects = (length: (head: Buffer) => number) =>
    rawServer(t, (socket) => {
      socket.once('data', (first: Buffer) => {
        const end = length(first);
        headers.push(first.subarray(0, end));
        const far = connect(port, '127.0.0.1');
        far.on('error', () => socket.destroy()).write(first.subarray(end) as Uint8Array);
        socket.on('close', () => far.destroy());
        socket.pipe(far).pipe(socket);
      });
    });
  await using panel = await boot();
  const one = await expects((head) => head.indexOf('\r\n') + 2);
  const first = await scanWith(panel, { target: `good.example.com:${one}`, xver: 1 });
  t.like(first, { tls13: true, h2: true, certSubject: 'good.example.com' }, first.reason);
  t.regex(String(headers[0]), new RegExp(`^PROXY TCP4 127\\.0\\.0\\.1 127\\.0\\.0\\.1 \\d+ ${one}\\r\\n$`));
  const two = await expects((head) => 16 + head.readUInt16BE(14));
  const second = await panel.get<{ tls13: boolean }>('/panel/api/server/scanRealityTarget', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    rawBody: `target=good.example.com:${two}&xver=2&allowPrivate=true`,
  });
  t.true(second.tls13);
  t.is(headers[1]?.subarray(0, 24).toString('hex'), '0d0a0d0a000d0a515549540a2111000c7f0000017f000001');
  t.is(headers[1]?.readUInt16BE(26), two);
  const without = await scanWith(panel, { target: `good.example.com:${one}` });
  t.false(without.tls13);
});

test('through a proxy the address of the server is not known, and that of the proxy is not shown', async (t) => {
  const { port } = await tlsServer(t, chain);
  const proxy = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const end of [socket, onward]) end.on('error', () => end.destroy());
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  await using panel = await boot({ proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  t.like(await scan(panel, `good.example.com:${port}`), { tls13: true, ip: '', privateTarget: false });
});

test('the header of the PROXY protocol over IPv6', (t) => {
  const ends = {
    localAddress: 'fe80::1%eth0',
    localPort: 258,
    remoteAddress: '2001:db8::2',
    remotePort: 443,
  };
  t.is(String(proxyHeader(ends, 1)), 'PROXY TCP6 fe80::1 2001:db8::2 258 443\r\n');
  t.is(
    proxyHeader(ends, 2).subarray(12).toString('hex'),
    '21210024fe80000000000000000000000000000120010db8000000000000000000000002010201bb',
  );
});

test('servers that are slow, silent, endless or something else are results with a reason', async (t) => {
  await using panel = await boot({ limits: { name: 1500, address: 1500, list: 5000 } });
  const flood = (socket: Socket, bytes: Buffer): void => {
    const more = (): void => {
      if (socket.destroyed) return;
      if (socket.write(bytes)) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  };
  /** One record of a handshake, a byte at a time: it never ends. */
  const drip = (socket: Socket): void => {
    const bytes = Buffer.from([22, 3, 3, 64, 0, 2, 0, 63, 252]);
    let at = 0;
    const timer = setInterval(() => socket.write(bytes.subarray(at, ++at) as Uint8Array), 100);
    socket.once('close', () => clearInterval(timer));
  };
  const record = (type: number, content: Buffer) =>
    Buffer.concat([
      Buffer.from([22, 3, 3, content.length >> 8, content.length & 255]),
      Buffer.from([type]),
      content.subarray(1),
    ]);
  const many = Array.from(
    { length: 400 },
    (_, i) => leaf({ name: `n${i}`, hosts: [`n${i}.example.com`] }).cert,
  );
  const wide = leaf({ hosts: Array.from({ length: 1000 }, (_, i) => `host-${i}.example.com`) });
  const raw = (answer: Parameters<typeof rawServer>[1]) => rawServer(t, answer);
  const tls = async (options: object) => (await tlsServer(t, { ...chain, ...options })).port;
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  for (const [what, port, says] of [
    ['silent', await raw(() => undefined), /^the connection failed: no handshake within 1\.5 s$/],
    ['a byte a second', await raw((socket) => drip(socket)), /no handshake within 1\.5 s/],
    [
      'closes at once',
      await raw((socket) => socket.end()),
      /handshake failed: the server closes the connection/,
    ],
    [
      'closes later',
      await raw((socket) => socket.once('data', () => socket.end())),
      /the server closes the connection/,
    ],
    [
      'resets',
      await raw((socket) => socket.once('data', () => socket.resetAndDestroy())),
      /the server closes the connection/,
    ],
    ['SSH', await raw((socket) => socket.end('SSH-2.0-x\r\n')), /the server does not speak TLS on this port/],
    [
      'HTTP',
      await raw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n'))),
      /does not speak TLS/,
    ],
    ['garbage', await raw((socket) => flood(socket, Buffer.alloc(65_536, 22))), /does not speak TLS/],
    [
      'endless hello requests',
      await raw((socket) => flood(socket, record(0, Buffer.alloc(16_384)))),
      /the server sends more than 32 KiB in its handshake/,
    ],
    [
      'a long chain',
      await tls({ cert: chain.cert + many.slice(0, 120).join('') }),
      /the server sends more than 32 KiB in its handshake/,
    ],
    [
      'endless chain',
      await tls({ cert: chain.cert + many.join('') }),
      /the server sends more than 32 KiB in its handshake/,
    ],
    ['TLS 1.1', await tls(old), /the server has neither TLS 1\.2 nor TLS 1\.3/],
    ['another protocol', await tls({ ALPNProtocols: ['spdy/3'] }), /neither h2 nor HTTP\/1\.1/],
    [
      'no common cipher',
      await tls({ maxVersion: 'TLSv1.2', ciphers: 'PSK-AES128-CBC-SHA' }),
      /accepts none of .*X25519, P-256, P-384, P-521, or none of the ciphers/,
    ],
    ['wants a certificate', await tls({ requestCert: true }), /not trusted/],
  ] as const) {
    const start = performance.now();
    const result = await scan(panel, `good.example.com:${port}`);
    t.regex(result.reason, says, what);
    t.false(result.feasible, what);
    t.true(performance.now() - start < 4000, what);
  }
  t.regex((await scan(panel, '127.0.0.1:1')).reason, /^the connection failed: the port is closed$/);
  t.regex((await scan(panel, 'nothing.invalid')).reason, /^the connection failed: the name/);
  const result = await scan(panel, `good.example.com:${await tls({ cert: wide.cert, key: wide.key })}`);
  t.is(result.serverNames.length, 100);
  t.true(result.certChainBytes > 20_000);
  t.deepEqual(panel.faults, []);
});
