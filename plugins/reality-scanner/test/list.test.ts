// Lists: limits on time and on connections, the order of results, networks.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import test from 'ava';
import { type HandshakeOptions, type OutgoingApi, OutgoingError } from '../../outgoing/contract.js';
import { RealityScanner, type ScanLimits } from '../scanner.js';
import { BUILT_IN } from '../settings.js';
import { authority, rawServer, tlsServer } from './servers.js';
import { boot, scanAll } from './world.js';

const { between, leaf } = authority();
const good = leaf();
const chain = { cert: good.cert + between.cert, key: good.key };
const ALONE = { sni: '', header: 0, allowPrivate: false } as const;
const log = {} as never;
const silent = new Promise<never>(() => undefined);

type Answer = (server: string, options: HandshakeOptions) => ReturnType<OutgoingApi['handshake']>;
const failure = (text = 'it does not answer') => new OutgoingError('network', text);

/** A scanner whose connections a test makes; `most` is how many were open at once. */
function scannerWith(
  answer: Answer,
  { limits, candidates = '' }: { limits?: ScanLimits; candidates?: string } = {},
) {
  const seen = { servers: [] as string[], open: 0, most: 0, progressed: 0 };
  const outgoing = {
    handshake: async (_: unknown, server: string, options: HandshakeOptions) => {
      seen.servers.push(server);
      seen.most = Math.max(seen.most, ++seen.open);
      const { signal } = options;
      let leave = (): void => undefined;
      const aborted = new Promise<never>((_resolve, reject) => {
        leave = () => reject(signal?.reason as Error);
        signal?.addEventListener('abort', leave);
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new OutgoingError('time', 'too late')), options.limits?.connectMs);
      });
      try {
        return await Promise.race([answer(server, options), aborted, late]);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        seen.open--;
      }
    },
  } as unknown as OutgoingApi;
  const settings = { read: () => ({ realityScanCandidates: candidates }) } as never;
  const scanner = new RealityScanner({ outgoing, settings, log }, limits);
  const many = (entries: readonly string[], signal = new AbortController().signal) =>
    scanner.many(entries, { signal, progressed: () => void seen.progressed++ });
  return { scanner, many, seen };
}
/** Shakes hands with a server on loopback, whatever the address. */
const shakingWith =
  (port: number): Answer =>
  (_, options) =>
    new Promise((resolve, reject) => {
      const socket = connect({
        host: '127.0.0.1',
        port,
        rejectUnauthorized: false,
        ALPNProtocols: options.ALPNProtocols as string[],
        ...(options.ecdhCurve !== undefined && { ecdhCurve: options.ecdhCurve }),
      });
      socket.once('secureConnect', () => resolve(socket)).once('error', reject);
    });

test('512 targets are scanned seven at a time, each reports progress, and single scans do not wait for them', async (t) => {
  const { scanner, many, seen } = scannerWith(async (server) => {
    await sleep(server.startsWith('single') ? 1 : 20);
    throw failure();
  });
  const names = Array.from({ length: 512 }, (_, i) => `n${i}.example`);
  const list = many(names);
  await sleep(50);
  const start = performance.now();
  await scanner.one('single.example', ALONE, new AbortController().signal);
  t.true(performance.now() - start < 500);
  const { results } = await list;
  t.is(results.length, 512);
  t.true(seen.most >= 7 && seen.most <= 8, `${seen.most} at once`);
  t.is(seen.progressed, 512);
});

test('sixteen scans of single servers run or wait, eight at once with those of lists, and others are refused', async (t) => {
  const { scanner, many, seen } = scannerWith(async (server) => {
    await sleep(server.startsWith('list') ? 20 : 100);
    throw failure();
  });
  const { signal } = new AbortController();
  const list = many(Array.from({ length: 20 }, (_, i) => `list${i}.example`));
  const scans = Array.from({ length: 18 }, (_, i) =>
    scanner.one(`n${i}.example`, ALONE, signal).then(
      () => 'scanned',
      ({ code }: { code: string }) => code,
    ),
  );
  const codes = await Promise.all(scans);
  t.is(codes.filter((code) => code === 'scanned').length, 16);
  t.is(codes.filter((code) => code === 'REALITY_SCANNER_BUSY').length, 2);
  t.is(seen.most, 8, 'none waits in the plugin outgoing, where that counts as the silence of a server');
  t.is((await list).results.length, 20);
  t.like(
    await scanner.one('later.example', ALONE, signal),
    { port: 443 },
    'those that are over leave their places',
  );
  const left = new AbortController();
  const gone = scanner.one('gone.example', ALONE, left.signal);
  left.abort(new Error('the caller left'));
  await t.throwsAsync(gone, { message: 'the caller left' });
});

test('two lists take turns', async (t) => {
  const { many, seen } = scannerWith(async () => {
    await sleep(20);
    throw failure();
  });
  const names = (count: number, end: string) => Array.from({ length: count }, (_, i) => `n${i}.${end}`);
  const ended: string[] = [];
  const long = many(names(300, 'long.example')).then(() => ended.push('long'));
  await many(names(20, 'short.example')).then(() => ended.push('short'));
  await long;
  t.is(seen.most, 7, 'both together');
  t.deepEqual(ended, ['short', 'long'], 'else the call of the second is cut, because nothing happens on it');
});

test('a third list is refused while two are scanned, and both end when their callers leave', async (t) => {
  const { many } = scannerWith(() => silent);
  const leave = new AbortController();
  const lists = [many(['a.example'], leave.signal), many(['b.example'], leave.signal)];
  await t.throwsAsync(many(['c.example']), { message: /2 lists are scanned now; try again/ });
  leave.abort(new Error('the caller left'));
  for (const list of lists) await t.throwsAsync(list, { message: 'the caller left' });
  await t.throwsAsync(many(['a.example'], leave.signal), { message: 'the caller left' });
});

test('what is not scanned within the time of the list is named', async (t) => {
  const limits = { name: 10_000, address: 10_000, list: 300 };
  const { many } = scannerWith(() => silent, { limits });
  const names = Array.from({ length: 20 }, (_, i) => `n${i}.example`);
  const start = performance.now();
  const { results, notes } = await many([...names, '192.0.2.0/28']);
  t.true(performance.now() - start < 8000, 'much less than the time of one name for each');
  t.is(results.length, 20);
  for (const { reason, target } of results)
    t.is(reason, 'it was not scanned: the list took longer than 0.3 s', target);
  t.deepEqual(notes, ['192.0.2.0/28: 16 addresses were not scanned within 0.3 s']);
});

test('addresses get less time than names', async (t) => {
  const limits = { name: 400, address: 100, list: 5000 };
  const { many } = scannerWith(() => silent, { limits });
  const { results } = await many(['192.0.2.1', 'a.example']);
  t.deepEqual(results.map(({ target, reason }) => [target, reason]).sort(), [
    ['192.0.2.1:443', 'the connection failed: no handshake within 0.1 s'],
    ['a.example:443', 'the connection failed: no handshake within 0.4 s'],
  ]);
});

test('too many calls a minute cost time, not results', async (t) => {
  let calls = 0;
  const { many } = scannerWith(() => {
    throw ++calls <= 3 ? new OutgoingError('busy', 'too many calls') : failure();
  });
  const { results } = await many(['a.example', 'b.example']);
  t.deepEqual(
    results.map(({ reason }) => reason),
    ['the connection failed: it does not answer', 'the connection failed: it does not answer'],
  );
});

test('networks show the addresses with a TLS server, each name once, and count the others', async (t) => {
  const { port } = await tlsServer(t, chain);
  const other = leaf({ name: 'other.example.com', hosts: ['other.example.com'] });
  const second = await tlsServer(t, { cert: other.cert, key: other.key, ALPNProtocols: ['http/1.1'] });
  const shake = shakingWith(port);
  const { many } = scannerWith((server, options) => {
    if (server === '192.0.2.1:443') return sleep(200).then(() => shake(server, options));
    if (server === '192.0.2.2:443') return shake(server, options);
    if (server === '192.0.2.3:443') return shakingWith(second.port)(server, options);
    if (server.startsWith('10.'))
      throw new OutgoingError('address', '10.0.0.0:443 is private; add it to WEIR_OUTGOING_ALLOW');
    throw failure();
  });
  const { results, notes } = await many([
    '192.0.2.0/29',
    '10.0.0.0/30',
    'dead.example',
    'a b',
    '2001:db8::/100',
  ]);
  const targets = results.map(({ target }) => target);
  t.deepEqual(targets.slice(0, 2).sort(), ['good.example.com:443', 'other.example.com:443']);
  t.is(results.find(({ host }) => host === 'good.example.com')?.ip, '192.0.2.2', 'the faster one');
  t.deepEqual(targets.slice(2).sort(), ['10.0.0.0/30', 'a b', 'dead.example:443']);
  t.true(
    results.slice(0, 2).every(({ latencyMs }) => latencyMs > 0),
    'those with a handshake come first',
  );
  t.true(results.slice(2).every(({ latencyMs }) => latencyMs === 0));
  t.true(results.find(({ target }) => target === '10.0.0.0/30')?.privateTarget);
  t.deepEqual(notes, [
    '2001:db8::/100: only its first 256 of 268435456 addresses are scanned',
    '192.0.2.0/29: 5 addresses have no TLS server on port 443',
    '2001:db8::/100: 256 addresses have no TLS server on port 443',
    '1 result with the same target as a better one left out',
  ]);
});

test('without entries those of the setting are scanned, and without these the built-in ones', async (t) => {
  const fails: Answer = () => Promise.reject(failure());
  for (const [candidates, servers] of [
    ['a.example:8443, 192.0.2.1', ['a.example:8443', '192.0.2.1:443']],
    [' , ', BUILT_IN.split(',')],
  ] as const) {
    const { many, seen } = scannerWith(fails, { candidates });
    await many([]);
    t.deepEqual(seen.servers, servers);
  }
});

test('a panel scans lists: as JSON, as a form, of the setting, with what is wrong in them', async (t) => {
  await using panel = await boot({ limits: { name: 1000, address: 1000, list: 20_000 } });
  const { port } = await tlsServer(t, chain);
  const quiet = await rawServer(t, () => undefined);
  const targets = [`localhost:${port}`, `127.0.0.1:${quiet}`, `[::1]:1`, 'x y', '10.9.8.7', '10.0.0.0/30'];
  const { body } = await scanAll(panel, targets);
  t.true(body.success);
  const [first, ...rest] = body.obj.map(({ target }) => target);
  t.is(first, `localhost:${port}`, 'the one with a handshake');
  t.deepEqual(rest.sort(), ['10.0.0.0/30', '10.9.8.7:443', `127.0.0.1:${quiet}`, '[::1]:1', 'x y']);
  t.is(body.msg, '');
  const form = await panel.call<unknown[]>('/panel/api/server/scanRealityTargets', {
    rawBody: String(new URLSearchParams({ targets: `127.0.0.1:${port},https://x,10.0.0.1/33` })),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.like(form.body.obj, { 0: { target: `good.example.com:${port}`, ip: '127.0.0.1' }, length: 3 });
  await panel.get('/panel/api/setting/update', {
    body: { realityScanCandidates: `127.0.0.1:${port}` },
  });
  for (const given of [undefined, '', [], ' , '])
    t.like((await scanAll(panel, given)).body.obj, { 0: { target: `good.example.com:${port}` }, length: 1 });
  const bare = await panel.call<unknown[]>('/panel/api/server/scanRealityTargets', { method: 'POST' });
  t.is(bare.body.obj.length, 1, 'without a body');
});

test('bad input is refused and names its field', async (t) => {
  await using panel = await boot();
  for (const [path, body, says] of [
    ['scanRealityTarget', {}, /target/],
    ['scanRealityTarget', { target: '' }, /target: "" is not a host name/],
    ['scanRealityTarget', { target: 7 }, /target/],
    ['scanRealityTarget', { target: ['a.example'] }, /target/],
    ['scanRealityTarget', { target: '10.0.0.0/8' }, /target: .* is not a host name/],
    ['scanRealityTarget', { target: 'a.example', sni: '10.0.0.1' }, /sni: it must be a host name/],
    ['scanRealityTarget', { target: 'a.example', sni: 'a b' }, /sni: it must be a host name/],
    ['scanRealityTarget', { target: 'x'.repeat(2000) }, /target/],
    ['scanRealityTarget', { target: 'a.example', xver: 3 }, /xver/],
    ['scanRealityTarget', { target: 'a.example', xver: 'one' }, /xver/],
    ['scanRealityTarget', { target: 'a.example', allowPrivate: 'perhaps' }, /allowPrivate/],
    ['scanRealityTargets', { targets: 7 }, /targets/],
    ['scanRealityTargets', { targets: [7] }, /targets/],
    ['scanRealityTargets', { targets: Array.from({ length: 513 }, (_, i) => `n${i}.example`) }, /targets/],
    [
      'scanRealityTargets',
      { targets: Array.from({ length: 513 }, (_, i) => `n${i}.example`).join() },
      /targets: there are more than 512/,
    ],
    [
      'scanRealityTargets',
      { targets: '192.0.2.0/24,198.51.100.0/24,a.example' },
      /targets: there are more than 512/,
    ],
    [
      'setting/update',
      { realityScanCandidates: 'a.example,b c/3' },
      /realityScanCandidates.*"c\/3" is not a network/,
    ],
  ] as const) {
    const where = path.includes('/') ? path : `server/${path}`;
    const reply = await panel.call(`/panel/api/${where}`, { body });
    t.is(reply.status, 400, JSON.stringify(body).slice(0, 100));
    t.regex(reply.body.msg, says);
    t.true(reply.body.msg.length < 1000);
  }
  const old = await panel.call('/panel/api/server/scanRealityTargets', {
    body: { targets: '127.0.0.1:1', allowPrivate: 'true', xver: 1 },
  });
  t.regex(old.body.msg, /ignored: allowPrivate, xver/);
  t.deepEqual(panel.faults, []);
});

test('without the plugin outgoing both endpoints say so', async (t) => {
  const settings = { read: () => ({ realityScanCandidates: '' }) } as never;
  const scanner = new RealityScanner({ outgoing: undefined, settings, log });
  const { signal } = new AbortController();
  const says = { message: /the plugin outgoing, .* is off; enable it/ };
  await t.throwsAsync(() => scanner.one('a.example', ALONE, signal), says);
  await t.throwsAsync(() => scanner.many([], { signal, progressed: () => undefined }), says);
});
