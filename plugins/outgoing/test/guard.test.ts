// Addresses that were not meant, in every way that leads to them.
import type { LookupAddress } from 'node:dns';
import test from 'ava';
import type { Resolve } from '../address-guard.js';
import { fits, patternOf } from '../destination.js';
import { failure, fetchOf, nameServer, serve } from './world.js';

const EVERYTHING = ['*.example.com', 'example.com'];

test('no private, local or metadata address is called, however it is written', async (t) => {
  const written = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0',
    '127.0.0.1.',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '１２７.０.０.１',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::8.8.8.8]',
    '[2002:7f00:1::]',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '224.0.0.1',
    '[ff02::1]',
    '255.255.255.255',
  ];
  for (const host of written) {
    const url = `http://${host}:8080/?key=hidden`;
    const error = await failure(fetchOf({ hosts: [url], allow: [] })(url));
    t.is(error.code, 'address', host);
    t.regex(error.message, /add acme=\S+:8080 to WEIR_OUTGOING_ALLOW/, host);
    t.notRegex(error.message, /hidden/);
  }
  for (const host of ['[fe80::1%25eth0]', 'a..b', 'a b', '1.2.3.4.5', '127.0.0.256'])
    t.is((await failure(fetchOf({ hosts: ['*.x.y'], allow: ['*'] })(`http://${host}/`))).code, 'url', host);
});

test('a name that leads to a private address is not called, and a name among whose addresses one is public leads there', async (t) => {
  const { resolve } = nameServer({
    'in.example.com': ['10.0.0.5'],
    'here.example.com': ['127.0.0.1', '::1'],
    'mapped.example.com': ['::ffff:169.254.169.254'],
    'empty.example.com': [],
  });
  const fetch = fetchOf({ hosts: EVERYTHING, allow: [], resolve });
  for (const name of ['in', 'here', 'mapped']) {
    const error = await failure(fetch(`https://${name}.example.com/hidden`));
    t.is(error.code, 'address', name);
    t.regex(
      error.message,
      new RegExp(`^${name}\\.example\\.com leads to .*, an address .* WEIR_OUTGOING_ALLOW`),
    );
    t.notRegex(error.message, /hidden/);
  }
  for (const name of ['empty', 'unknown'])
    t.is((await failure(fetch(`http://${name}.example.com/`))).code, 'network', name);
});

test('of several addresses only the permitted ones are dialled', async (t) => {
  const { port } = await serve(t, (request, response) => response.end(`hello ${request.headers.host}`));
  const { resolve, asked } = nameServer({ 'mixed.example.com': ['10.255.255.1', '127.0.0.1'] });
  const fetch = fetchOf({ hosts: EVERYTHING, allow: [`127.0.0.1:${port}`], resolve });
  const url = `http://mixed.example.com:${port}/`;
  t.is(await (await fetch(url)).text(), `hello mixed.example.com:${port}`);
  t.deepEqual(asked, ['mixed.example.com']);
  t.is((await failure(fetch(`http://mixed.example.com:${port === 1 ? 2 : port - 1}/`))).code, 'address');
});

test('a name that changes between two look-ups leads nowhere: what was checked is what is dialled', async (t) => {
  const { port } = await serve(t, (_, response) => response.end('the inside'));
  let asked = 0;
  const rebind: Resolve = (_, __, done) => {
    const address: LookupAddress = { address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 };
    done(null, [address]);
  };
  const fetch = fetchOf({ hosts: EVERYTHING, allow: ['127.0.0.2'], resolve: rebind });
  const first = await failure(fetch(`http://example.com:${port}/`));
  t.is(first.code, 'network', first.message);
  t.is(asked, 1);
  t.is((await failure(fetch(`http://example.com:${port}/`))).code, 'address');
});

test('a redirect is checked like a call: address, name, own list, downgrade', async (t) => {
  const { resolve } = nameServer({ 'in.example.com': ['10.0.0.5'] });
  const { url } = await serve(t, (request, response) =>
    response.writeHead(302, { location: decodeURIComponent((request.url ?? '').slice(2)) }).end(),
  );
  const fetch = fetchOf({ hosts: ['127.0.0.1', '*.example.com', '127.0.0.2'], resolve });
  const to = (where: string) => failure(fetch(`${url}/?${encodeURIComponent(where)}`));
  t.is((await to('http://127.0.0.2/')).code, 'address');
  t.is((await to('http://in.example.com/')).code, 'address');
  t.is((await to('http://elsewhere.org/')).code, 'host');
  t.is((await to('ftp://127.0.0.1/')).code, 'url');
  t.is((await to('file:///etc/passwd')).code, 'url');
  t.is((await to('http://')).code, 'redirect');
  t.is((await to('http://user:word@127.0.0.1/')).code, 'url');
});

test("the panel's own listeners are never called, whatever is allowed", async (t) => {
  const { url, port } = await serve(t, (_, response) => response.end('the panel'));
  const error = await failure(fetchOf({ ownPorts: [port] })(url));
  t.is(error.code, 'address');
  t.regex(error.message, /the panel's own listener panel, which no plugin may call/);
  const { resolve } = nameServer({ 'example.com': ['127.0.0.1'] });
  const named = fetchOf({ hosts: EVERYTHING, allow: ['127.0.0.0/8'], ownPorts: [port], resolve });
  t.is((await failure(named(`http://example.com:${port}`))).code, 'address');
});

test('a plugin calls the hosts that it declares, at their ports, and no others', async (t) => {
  const { resolve } = nameServer({});
  const fetch = fetchOf({
    hosts: [
      'api.example.com',
      '*.cdn.example.com',
      'with.port.org:8443',
      'https://hook.org/secret',
      'münchen.de',
    ],
    allow: [],
    resolve,
  });
  const code = async (url: string) => (await failure(fetch(url))).code;
  for (const url of [
    'https://api.example.com/x',
    'http://API.example.com.:81/',
    'https://a.cdn.example.com',
    'https://with.port.org:8443',
    'https://hook.org/other',
    'https://xn--mnchen-3ya.de/',
    'https://MÜNCHEN.de/',
  ])
    t.is(await code(url), 'network', url);
  for (const url of [
    'https://example.com/',
    'https://cdn.example.com/',
    'https://evilcdn.example.com/',
    'https://with.port.org/',
    'http://hook.org/',
    'https://api.example.com.evil.org/',
    'http://8.8.8.8/',
  ])
    t.is(await code(url), 'host', url);
  const error = await failure(fetch('https://example.com/?token=hidden'));
  t.is(
    error.message,
    'example.com:443 is not among the hosts that the plugin acme says it calls; if that is meant, add acme=example.com:443 to WEIR_OUTGOING_ALLOW and restart the panel',
  );
});

test('an admin widens the list, and * means public addresses only', async (t) => {
  const { resolve } = nameServer({ 'in.org': ['10.0.0.5'] });
  const any = fetchOf({ hosts: [], allow: ['*', 'in.org'], resolve });
  t.is((await failure(any('http://in.org/'))).code, 'address');
  t.is((await failure(any('http://unknown.org/'))).code, 'network');
  const { port } = await serve(t, (_, response) => response.end('inside'));
  const near = nameServer({ 'in.org': ['127.0.0.1'] });
  const some = fetchOf({ hosts: ['in.org'], allow: ['127.0.0.0/8'], resolve: near.resolve });
  t.is(await (await some(`http://in.org:${port}/`)).text(), 'inside');
  const other = fetchOf({ hosts: ['in.org'], allow: ['127.0.0.0/32', '10.0.0.0/8'], resolve: near.resolve });
  t.is((await failure(other(`http://in.org:${port}/`))).code, 'address');
});

test('entries of a list are read in every spelling, and what is none is refused', (t) => {
  const matches = (text: string, host: string, isAddress: boolean, port = 443) => {
    const pattern = patternOf(text);
    return pattern && fits(pattern, { host, isAddress, port });
  };
  t.true(matches('fd00::/8', 'fd00::5', true));
  t.false(matches('fd00::/8', 'fe00::5', true));
  t.true(matches('[2001:DB8::1]:443', '2001:db8::1', true));
  t.true(matches('2001:db8:0::1', '2001:db8::1', true));
  t.false(matches('[2001:db8::1]:80', '2001:db8::1', true));
  t.true(matches('::ffff:10.0.0.1', '10.0.0.1', true));
  t.true(matches('0x0a000001', '10.0.0.1', true));
  t.true(matches('Example.COM.', 'example.com', false));
  t.false(matches('*.com', 'com', false));
  t.false(matches('10.0.0.0/8', '10.example.com', false));
  for (const text of [
    '',
    'a b',
    'a/b',
    '10.0.0.0/33',
    '::/129',
    '::ffff:0:0/96',
    '*.10.0.0.1',
    '*.*',
    'a:0',
    'a:70000',
    'a@b',
    'fe80::1%eth0',
    'http://a/',
  ])
    t.is(patternOf(text), undefined, text);
});

test('a list that an admin enters is asked at each call, and a function that fails costs its plugin only', async (t) => {
  const { url } = await serve(t, (_, response) => response.end('x'));
  let hosts: unknown = [];
  const faults: unknown[] = [];
  const fetch = fetchOf({ hosts: () => hosts as string[], faults, allow: ['127.0.0.0/30'] });
  t.is((await failure(fetch('http://192.0.2.1/'))).code, 'host');
  hosts = [url, ''];
  t.is(await (await fetch(url)).text(), 'x');
  t.deepEqual(faults, []);
  for (const wrong of [undefined, 'x', [7], ['a b'], ['*']]) {
    hosts = wrong;
    t.is((await failure(fetch('http://192.0.2.1/'))).code, 'host');
  }
  t.is(faults.length, 5);
});

test('what no call can have is refused before anything is dialled, and nothing of it is repeated', async (t) => {
  const fetch = fetchOf();
  for (const [url, options] of [
    ['/relative', {}],
    ['javascript:hidden', {}],
    ['http://user:hidden@127.0.0.1/', {}],
    ['http://127.0.0.1/', { method: 'TRACE' }],
    ['http://127.0.0.1/', { method: 'G E\r\nT' }],
    ['http://127.0.0.1/', { body: 'hidden' }],
    ['http://127.0.0.1/', { headers: { host: 'hidden' } }],
    ['http://127.0.0.1/', { headers: { 'transfer-encoding': 'hidden' } }],
    ['http://127.0.0.1/', { headers: { 'x-a': 'hidden\r\nx: y' } }],
    ['http://127.0.0.1/', { limits: { wholeMs: 0 } }],
    ['http://127.0.0.1/', { limits: { maxBytes: Number.POSITIVE_INFINITY } }],
    ['http://127.0.0.1/', { limits: { patience: 1 } }],
  ] as const) {
    const error = await failure(fetch(url, options as object));
    t.is(error.code, 'url', `${url} ${JSON.stringify(options)}`);
    t.notRegex(error.message, /hidden/);
  }
});
