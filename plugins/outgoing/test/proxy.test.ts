// Calls through a proxy: HTTP CONNECT and SOCKS 5, with and without an account, well-behaved and not.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { proxyOf } from '../proxy.js';
import { failure, fetchOf, nameServer, serve } from './world.js';

async function open(t: ExecutionContext, talk: (socket: Socket) => Promise<void> | void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    void Promise.resolve(talk(socket)).catch(() => socket.destroy());
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

async function chunk(socket: Socket): Promise<Buffer> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes;
}

/** Joins to a server of the test, whatever was asked for. */
function join(socket: Socket, port: number, greeting: Buffer | string): void {
  const onward = connect(port, '127.0.0.1', () => {
    socket.write(greeting);
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
}

const httpProxy = (t: ExecutionContext, target: number, asked: string[]): Promise<number> =>
  open(t, async (socket) => {
    asked.push((await chunk(socket)).toString());
    join(socket, target, 'HTTP/1.1 200 OK\r\nX-Proxy: yes\r\n\r\n');
  });

const socksProxy = (t: ExecutionContext, target: number, asked: Buffer[], method = 0): Promise<number> =>
  open(t, async (socket) => {
    asked.push(await chunk(socket));
    socket.write(Buffer.from([5, method]));
    if (method === 2) {
      asked.push(await chunk(socket));
      socket.write(Buffer.from([1, 0]));
    }
    asked.push(await chunk(socket));
    join(socket, target, Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  });

const HOSTS = ['example.com', '127.0.0.1', '[2001:db8::1]'];

test('an HTTP proxy is asked for a tunnel by name, with its account, and looks the name up itself', async (t) => {
  const { port } = await serve(t, (request, response) => response.end(`for ${request.headers.host}`));
  const asked: string[] = [];
  const proxy = `http://ada:pass%20word@127.0.0.1:${await httpProxy(t, port, asked)}`;
  const server = nameServer({});
  const fetch = fetchOf({ hosts: HOSTS, allow: [], proxy, resolve: server.resolve });
  t.is(await (await fetch('http://example.com/x')).text(), 'for example.com');
  t.deepEqual(asked, [
    `CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\nProxy-Authorization: Basic ${Buffer.from('ada:pass word').toString('base64')}\r\n\r\n`,
  ]);
  t.deepEqual(server.asked, []);
});

test('a connection through a proxy stands when its answer takes longer than connecting may', async (t) => {
  const { port } = await serve(t, (_, response) => void setTimeout(() => response.end('at last'), 600));
  const proxy = `http://127.0.0.1:${await httpProxy(t, port, [])}`;
  const fetch = fetchOf({ hosts: HOSTS, allow: [], proxy, limits: { connectMs: 300 } });
  t.is(await (await fetch('http://example.com/')).text(), 'at last');
});

test('an address that was not meant is refused before the proxy is asked', async (t) => {
  const asked: string[] = [];
  const proxy = `http://127.0.0.1:${await httpProxy(t, 1, asked)}`;
  const fetch = fetchOf({ hosts: [...HOSTS, 'localhost'], allow: [], proxy });
  for (const url of ['http://127.0.0.1/', 'http://localhost/', 'https://127.1/'])
    t.is((await failure(fetch(url))).code, 'address', url);
  t.deepEqual(asked, []);
});

test('SOCKS 5 gets names or checked addresses, as its URL says', async (t) => {
  const { port } = await serve(t, (_, response) => response.end('through'));
  const { resolve } = nameServer({
    'example.com': ['10.0.0.5', '203.0.113.7'],
    'in.example.com': ['10.0.0.5'],
  });
  const far: Buffer[] = [];
  const farProxy = `socks5h://ada:word@127.0.0.1:${await socksProxy(t, port, far, 2)}`;
  const byName = fetchOf({ hosts: HOSTS, allow: [], proxy: farProxy, resolve });
  t.is(await (await byName('http://example.com/')).text(), 'through');
  t.deepEqual(far, [
    Buffer.from([5, 2, 0, 2]),
    Buffer.from('\x01\x03ada\x04word'),
    Buffer.concat([Buffer.from([5, 1, 0, 3, 11]), Buffer.from('example.com'), Buffer.from([0, 80])]),
  ]);

  const near: Buffer[] = [];
  const nearPort = await socksProxy(t, port, near);
  const hosts = [...HOSTS, 'in.example.com'];
  const byAddress = fetchOf({ hosts, allow: [], proxy: `socks5://127.0.0.1:${nearPort}`, resolve });
  t.is(await (await byAddress('http://example.com/')).text(), 'through');
  t.is(await (await byAddress('http://[2001:db8::1]:8080/')).text(), 'through');
  t.is((await failure(byAddress('http://in.example.com/'))).code, 'address');
  t.deepEqual(
    near.filter((_, i) => i % 2 === 1),
    [
      Buffer.from([5, 1, 0, 1, 203, 0, 113, 7, 0, 80]),
      Buffer.from([5, 1, 0, 4, 0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1, 0x1f, 0x90]),
    ],
  );
});

test('a proxy that refuses, hangs, closes or talks nonsense is an error that names no password', async (t) => {
  const answers: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['http', 'HTTP/1.1 407 Who\r\n\r\n', /the proxy answered 407/],
    ['http', 'SSH-2.0-x\r\n\r\n', /does not speak HTTP/],
    ['http', 'a'.repeat(20_000), /endless head/],
    ['http', '', /the proxy closed the connection/],
    ['socks5h', Buffer.from([5, 255]), /requires a user name and a password/],
    ['socks5h', Buffer.from([4, 0]), /does not speak SOCKS 5/],
    ['socks5h', Buffer.from([5, 2, 1, 1]), /refuses user name or password/],
    ['socks5h', Buffer.from([5, 0, 5, 5, 0, 1]), /that the connection was refused/],
    ['socks5h', Buffer.from([5, 0, 5, 0, 0, 9]), /does not speak SOCKS 5/],
  ];
  for (const [kind, answer, expected] of answers) {
    const port = await open(t, async (socket) => {
      await chunk(socket);
      socket.end(answer);
    });
    const fetch = fetchOf({ hosts: HOSTS, allow: [], proxy: `${kind}://ada:hidden@127.0.0.1:${port}` });
    const error = await failure(fetch('http://example.com/'));
    t.is(error.code, 'network');
    t.regex(error.message, expected);
    t.regex(error.message, /^example\.com:80 cannot be reached/);
    t.notRegex(error.message, /hidden/);
  }
  const hung = await open(t, () => undefined);
  const limits = { connectMs: 100 };
  const fetch = fetchOf({ hosts: HOSTS, allow: [], limits, proxy: `socks5h://127.0.0.1:${hung}` });
  t.regex((await failure(fetch('http://example.com/'))).message, /could not be connected to within 0\.1 s/);
});

test('the address of a proxy is read whole or not at all', (t) => {
  t.like(proxyOf('socks5://[::1]'), { kind: 'socks5', host: '::1', port: 1080 });
  t.like(proxyOf('http://p.example.com/'), { port: 80, username: '' });
  for (const text of [
    '',
    'p:80',
    'socks4://p',
    'http://',
    'http://p/path',
    'http://p?x',
    `http://${'a'.repeat(256)}@p`,
    'http://%E0%A4%A@p',
  ])
    t.is(proxyOf(text), undefined, text);
});

test('a way of another plugin is used for public hosts, and the proxy of the environment before it', async (t) => {
  const { port } = await serve(t, (_, response) => response.end('here'));
  const [asked, other]: Buffer[][] = [[], []];
  const way = {
    host: '127.0.0.1',
    port: await socksProxy(t, port, asked ?? [], 2),
    username: 'ada',
    password: 'p',
  };
  const ways = [{ proxy: () => undefined }, { proxy: () => way }];
  const server = nameServer({});
  const fetch = fetchOf({ hosts: HOSTS, allow: [`127.0.0.1:${port}`], ways, resolve: server.resolve });
  t.is(await (await fetch('http://example.com/')).text(), 'here');
  t.deepEqual(server.asked, [], 'the way looks names up');
  t.is(String(asked?.[1]?.subarray(2)), 'ada\x01p');
  const before = asked?.length;
  t.is(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'here');
  t.is(asked?.length, before, 'an address that is not public is called directly');
  await t.throwsAsync(async () => fetch('http://example.com/', { allowPrivate: true }), {
    message: /ENOTFOUND/,
  });

  const proxy = `socks5h://127.0.0.1:${await socksProxy(t, port, other ?? [])}`;
  t.is(await (await fetchOf({ hosts: HOSTS, ways, proxy })('http://example.com/')).text(), 'here');
  t.is(asked?.length, before);
});

test('a way that fails is a fault of its plugin, and the call is direct', async (t) => {
  const faults: unknown[] = [];
  const ways = [
    {
      proxy: () => {
        throw new Error('no way');
      },
    },
  ];
  const fetch = fetchOf({ hosts: HOSTS, ways, faults, resolve: nameServer({}).resolve });
  await t.throwsAsync(async () => fetch('http://example.com/'), { message: /ENOTFOUND/ });
  t.is(faults.length, 1);
});

test('each redirect is sent by the way of its own destination', async (t) => {
  const { port } = await serve(t, ({ headers, url }, response) => {
    const to = { '/out': 'http://example.com/end', '/in': `http://127.0.0.1:${port}/end` }[url ?? ''];
    if (to === undefined) response.end(headers.host);
    else response.writeHead(302, { location: to }).end();
  });
  const asked: Buffer[] = [];
  const way = {
    host: '127.0.0.1',
    port: await socksProxy(t, port, asked, 2),
    username: 'ada',
    password: 'p',
  };
  const { resolve, asked: names } = nameServer({});
  const fetch = fetchOf({
    hosts: HOSTS,
    allow: [`127.0.0.1:${port}`],
    ways: [{ proxy: () => way }],
    resolve,
  });
  t.is(await (await fetch(`http://127.0.0.1:${port}/out`)).text(), 'example.com');
  t.deepEqual(names, [], 'the second call is not direct');
  t.is(asked.length, 3);
  t.is(await (await fetch('http://example.com/in')).text(), `127.0.0.1:${port}`);
  t.is(asked.length, 6, 'the second call is direct');
});

test('names of this machine are called directly, where their address is checked', async (t) => {
  let asked = 0;
  const ways = [{ proxy: () => void asked++ as undefined }];
  const resolve = nameServer({ localhost: ['127.0.0.1'], 'a.localhost': ['127.0.0.1'] }).resolve;
  const fetch = fetchOf({ hosts: ['localhost', 'a.localhost'], allow: [], ways, resolve });
  for (const host of ['localhost', 'a.localhost', 'LOCALHOST.'])
    t.is((await failure(fetch(`http://${host}:9/`))).code, 'address', host);
  t.is(asked, 0);
});

test('a call with a proxy of its own asks for no other way', async (t) => {
  const { port } = await serve(t, (_, response) => response.end('here'));
  const proxy = `socks5h://127.0.0.1:${await socksProxy(t, port, [])}`;
  let asked = 0;
  const ways = [{ proxy: () => void asked++ as undefined }];
  t.is(await (await fetchOf({ hosts: HOSTS, ways })('http://example.com/', { proxy })).text(), 'here');
  t.is(asked, 0);
});
