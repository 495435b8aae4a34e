// The address under which an outbound is seen: what is read of the answers, and answers that never come.
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { egressOf, seenIn, TRACES } from '../egress.js';
import { listen, openCore, raw } from './core-stand-in.js';

const trace = (fields: Record<string, string>): string =>
  Object.entries({ fl: '1f1', h: '1.1.1.1', ts: '1795432556.9', ...fields })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

test('an answer has the address, the country and whether it came through WARP', (t) => {
  const good = trace({ ip: '203.0.113.7', loc: 'DE', warp: 'plus' });
  t.deepEqual(seenIn(good, false), { address: '203.0.113.7', country: 'DE', warp: 'plus' });
  t.is(seenIn(good, true), undefined, 'of the other kind');
  t.is(seenIn(trace({ ip: '2001:DB8::07' }), true)?.address, '2001:db8::7');
  t.is(seenIn(trace({ ip: '203.0.113.7' }), false)?.country, '');
  t.deepEqual(seenIn(trace({ ip: '203.0.113.7', loc: '<b>', warp: 'on off' }), false), {
    address: '203.0.113.7',
    country: '',
    warp: '',
  });
  for (const text of [
    '',
    'ip',
    'ip=',
    'ip=home',
    '=203.0.113.7',
    '<html>',
    trace({ x: 'y'.repeat(5_000), ip: '203.0.113.7' }),
  ])
    t.is(seenIn(text, false), undefined, text.slice(0, 20));
});

test('is asked at addresses, so that the far end does not choose the kind of IP', (t) => {
  t.deepEqual(
    [TRACES.ipv4.href, TRACES.ipv6.href],
    ['https://1.1.1.1/cdn-cgi/trace', 'https://[2606:4700:4700::1111]/cdn-cgi/trace'],
  );
});

async function asked(t: ExecutionContext, ports: { readonly v4: number; readonly v6: number }) {
  const { socket, open, hosts } = await openCore(t);
  const traces = {
    ipv4: new URL(`http://192.0.2.1:${ports.v4}/trace`),
    ipv6: new URL(`http://[2001:db8::1]:${ports.v6}/trace`),
  };
  const seen = await egressOf({ socket, login: 'u0:x', traces, limit: 400 }, new AbortController().signal);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(open.size, 0, 'no connection is left open');
  t.deepEqual(new Set(hosts), new Set(['192.0.2.1', '[2001:db8::1]']));
  return seen;
}
const answering = (t: ExecutionContext, text: string, status = 200) =>
  listen(
    t,
    createServer((_, reply) => void reply.writeHead(status).end(text)),
  );

test('both kinds of IP; one of them; none', async (t) => {
  const v4 = await answering(t, trace({ ip: '203.0.113.7', loc: 'DE', warp: 'on' }));
  const v6 = await answering(t, trace({ ip: '2001:db8::7', loc: 'FR', warp: 'off' }));
  const silent = await raw(t, () => undefined);
  const closed = await raw(t, (socket: Socket) => socket.destroy());
  const endless = await raw(t, (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\nip=203.0.113.7\n');
    const more = (): void => {
      while (socket.writable && socket.write('x'.repeat(65_536)));
    };
    socket.on('drain', more);
    more();
  });
  const refused = await answering(t, trace({ ip: '203.0.113.7' }), 403);
  t.deepEqual(await asked(t, { v4, v6 }), {
    ipv4: '203.0.113.7',
    ipv6: '2001:db8::7',
    country: 'DE',
    warp: 'on',
  });
  const start = Date.now();
  t.deepEqual(await asked(t, { v4: silent, v6 }), {
    ipv4: '',
    ipv6: '2001:db8::7',
    country: 'FR',
    warp: 'off',
  });
  t.true(Date.now() - start < 2_000);
  t.is((await asked(t, { v4, v6: closed }))?.ipv6, '');
  t.is(await asked(t, { v4: endless, v6: refused }), undefined);
  t.is(await asked(t, { v4: refused, v6: silent }), undefined);
});
