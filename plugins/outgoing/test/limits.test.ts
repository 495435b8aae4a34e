// Servers that answer slowly, endlessly or in circles.
import { createGzip, gzipSync } from 'node:zlib';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import type { Clock } from '../../../kernel/index.js';
import { AT_ONCE, MOST_WAITING, PER_MINUTE, Quota } from '../quota.js';
import { failure, fetchOf, serve } from './world.js';

test('a server that answers gets what was sent, and its reply is unpacked', async (t) => {
  const heard: unknown[] = [];
  const { url } = await serve(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    heard.push([
      request.method,
      request.url,
      body,
      request.headers['x-mark'],
      request.headers['content-type'],
    ]);
    response.writeHead(201, { 'content-encoding': 'gzip', 'x-reply': 'yes' });
    response.end(gzipSync('packed reply'));
  });
  const answer = await fetchOf()(`${url}/a?b=c`, {
    method: 'post',
    body: new URLSearchParams({ d: 'e f' }),
    headers: { 'x-mark': '1' },
  });
  t.is(answer.status, 201);
  t.is(answer.headers.get('x-reply'), 'yes');
  t.is(answer.url, `${url}/a?b=c`);
  t.false(answer.redirected);
  t.is(await answer.text(), 'packed reply');
  t.deepEqual(heard, [['POST', '/a?b=c', 'd=e+f', '1', 'application/x-www-form-urlencoded;charset=UTF-8']]);
});

test('replies without a body are read as such', async (t) => {
  const { url } = await serve(t, (request, response) => {
    response.writeHead(request.url === '/head' ? 200 : 204, { 'x-a': 'b' }).end();
  });
  const fetch = fetchOf();
  t.is((await fetch(`${url}/none`)).status, 204);
  t.is(await (await fetch(`${url}/head`, { method: 'HEAD' })).text(), '');
});

test('a server that never begins to answer, or drips headers, is left after firstByteMs', async (t) => {
  const { url } = await serve(t, (_, response) => {
    const drip = setInterval(() => response.socket?.write('X-Drip: 1\r\n'), 5);
    response.socket?.write('HTTP/1.1 200 OK\r\n');
    response.socket?.once('close', () => clearInterval(drip));
  });
  const error = await failure(fetchOf({ limits: { firstByteMs: 150 } })(`${url}/?token=hidden`));
  t.is(error.code, 'time');
  t.regex(error.message, /^127\.0\.0\.1:\d+ did not answer within 0\.15 s \(firstByteMs\)$/);
});

test('a server that changes to another protocol, which nobody asked for, is left at once', async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  });
  const error = await failure(fetchOf({ limits: { firstByteMs: 20_000 } })(url));
  t.is(error.code, 'network');
});

test('headers without end are refused by their size', async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.socket?.write(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(100_000)}`);
  });
  t.is((await failure(fetchOf()(url))).code, 'network');
});

test('a body without end is ended by maxBytes, and one that drips by wholeMs', async (t) => {
  let open = 0;
  const { url } = await serve(t, (request, response) => {
    open++;
    response.once('close', () => open--);
    response.writeHead(200);
    const more = (): void => {
      while (response.writable && response.write(Buffer.alloc(64 * 1024))) if (response.destroyed) return;
    };
    if (request.url === '/endless') response.on('drain', more), more();
    else response.write('one byte, then nothing');
  });
  const large = await failure(fetchOf({ limits: { maxBytes: 1_000_000 } })(`${url}/endless`));
  t.is(large.code, 'size');
  t.regex(large.message, /larger than 1000000 bytes; set the limit maxBytes/);
  const slow = await failure(fetchOf()(`${url}/drip`, { limits: { wholeMs: 200 } }));
  t.is(slow.code, 'time');
  t.regex(slow.message, /took longer than 0\.2 s \(wholeMs\)/);
  await until(() => open === 0, 'both connections are closed');
});

test('a reply of just maxBytes is whole, and one byte more is too much', async (t) => {
  const { url } = await serve(t, (_, response) =>
    response.writeHead(200).write('12345', () => response.end()),
  );
  t.is(await (await fetchOf({ limits: { maxBytes: 5 } })(url)).text(), '12345');
  t.is((await failure(fetchOf({ limits: { maxBytes: 4 } })(url))).code, 'size');
});

test('a bomb in gzip is counted by what it unpacks to', async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    const pack = createGzip();
    pack.pipe(response);
    const zeros = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 50; i++) pack.write(zeros);
    pack.end();
  });
  const error = await failure(fetchOf({ limits: { maxBytes: 2_000_000 } })(url));
  t.is(error.code, 'size');
});

test('a reply that says that it is too large is not read, and one packed twice or broken is refused', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/large') response.writeHead(200, { 'content-length': '99999999' }).write('x');
    else if (request.url === '/twice') response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end('x');
    else if (request.url === '/proto')
      response.writeHead(200, { 'content-encoding': 'constructor' }).end('x');
    else if (request.url === '/broken')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip');
    else if (request.url === '/cut')
      response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy());
    else response.socket?.end('nonsense\r\n\r\n');
  });
  const fetch = fetchOf({ limits: { maxBytes: 1_000 } });
  t.is((await failure(fetch(`${url}/large`))).code, 'size');
  for (const path of ['/twice', '/proto', '/broken', '/cut', '/nonsense'])
    t.is((await failure(fetch(`${url}${path}`))).code, 'network', path);
});

test('redirects are followed up to the limit, and their rules are those of fetch', async (t) => {
  const heard: unknown[] = [];
  const { url } = await serve(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    heard.push([request.method, request.url, body, request.headers.authorization]);
    const [, to, code] = /^\/(\w+)\/(\d+)/.exec(request.url ?? '') ?? [];
    if (to === undefined) response.end('there');
    else
      response
        .writeHead(Number(code), { location: to === 'circle' ? (request.url ?? '') : '/end' })
        .end('away');
  });
  const fetch = fetchOf();
  const circle = await failure(fetch(`${url}/circle/302`));
  t.is(circle.code, 'redirect');
  t.is(heard.length, 6);
  heard.length = 0;
  const options = { method: 'POST', body: 'b', headers: { authorization: 'Bearer x' } };
  const answer = await fetch(`${url}/on/307`, options);
  t.true(answer.redirected);
  t.is(answer.url, `${url}/end`);
  t.is(await answer.text(), 'there');
  await (await fetch(`${url}/on/302`, options)).text();
  t.deepEqual(heard, [
    ['POST', '/on/307', 'b', 'Bearer x'],
    ['POST', '/end', 'b', 'Bearer x'],
    ['POST', '/on/302', 'b', 'Bearer x'],
    ['GET', '/end', '', 'Bearer x'],
  ]);
  t.is((await fetch(`${url}/on/302`, { redirect: 'manual' })).status, 302);
  t.is((await failure(fetch(`${url}/on/302`, { redirect: 'error' }))).code, 'redirect');
  t.is((await failure(fetch(`${url}/on/302`, { limits: { redirects: 0 } }))).code, 'redirect');
});

test('what is secret does not go to another origin', async (t) => {
  const heard: unknown[] = [];
  const second = await serve(t, (request, response) => {
    const { authorization, cookie, accept } = request.headers;
    heard.push([authorization, cookie, request.headers['x-api-key'], accept]);
    response.end('second');
  });
  const first = await serve(t, (_, response) => response.writeHead(302, { location: second.url }).end());
  const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k', accept: 'text/plain' };
  t.is(await (await fetchOf()(first.url, { headers })).text(), 'second');
  t.deepEqual(heard, [[undefined, undefined, undefined, 'text/plain']]);
});

test('a plugin has so many calls at once, the others wait, and too many of them are refused', async (t) => {
  const open = new Set<() => void>();
  let most = 0;
  const { url } = await serve(t, (_, response) => {
    open.add(() => response.end('done'));
    most = Math.max(most, open.size);
  });
  const fetch = fetchOf();
  const calls = Array.from({ length: AT_ONCE + MOST_WAITING }, () =>
    fetch(url).then((answer) => answer.text()),
  );
  await until(() => open.size === AT_ONCE, 'the first calls are open');
  const refused = await failure(fetch(url));
  t.is(refused.code, 'busy');
  t.regex(refused.message, /the plugin acme has 8 calls open and 100 waiting/);
  let done = 0;
  for (const call of calls) void call.then(() => done++);
  await until(() => {
    for (const end of open) {
      end();
      open.delete(end);
    }
    return done === calls.length;
  }, 'all are answered');
  const later = Array.from({ length: AT_ONCE + 1 }, () => fetch(url).then((answer) => answer.text()));
  await until(() => open.size >= AT_ONCE, 'the first of the later calls are open');
  t.is(most, AT_ONCE);
  let left = later.length;
  for (const call of later) void call.then(() => left--);
  await until(() => {
    for (const end of open) {
      open.delete(end);
      end();
    }
    return left === 0;
  }, 'the later ones are answered');
  t.is(most, AT_ONCE);
});

test('a plugin that loops is told so, and may call again later', async (t) => {
  const { url } = await serve(t, (_, response) => response.end('x'));
  const clock = new FakeClock(1_000_000);
  const fetch = fetchOf({ clock });
  for (let i = 0; i < PER_MINUTE; i++) await (await fetch(url)).text();
  const error = await failure(fetch(url));
  t.is(error.code, 'busy');
  t.regex(error.message, /the plugin acme makes more than 300 calls a minute/);
  clock.tick(1_000);
  t.is(await (await fetch(url)).text(), 'x');
});

test('what was not called is not saved up, and a clock that is set back gives nothing', async (t) => {
  let now = 1_000_000;
  const quota = new Quota('acme', { now: () => now } as Clock);
  const { signal } = new AbortController();
  const calls = async () => {
    let count = 0;
    while (count <= 2 * PER_MINUTE) {
      const giveBack = await quota.take(signal).catch(() => undefined);
      if (giveBack === undefined) break;
      giveBack();
      count++;
    }
    return count;
  };
  now += 3_600_000;
  t.is(await calls(), PER_MINUTE);
  now -= 3_600_000;
  t.is(await calls(), 0);
  now += 60_000;
  t.is(await calls(), PER_MINUTE);
});

test('a turn passes to nobody who has left', async (t) => {
  const quota = new Quota('acme', { now: () => 0 } as Clock);
  const { signal } = new AbortController();
  const open = await Promise.all(Array.from({ length: AT_ONCE }, () => quota.take(signal)));
  const leaver = new AbortController();
  const left = quota.take(leaver.signal);
  let isServed = false;
  const waits = quota.take(signal).then(() => (isServed = true));
  leaver.abort(new Error('changed my mind'));
  await t.throwsAsync(left, { message: 'changed my mind' });
  open[0]?.();
  await Promise.race([waits, new Promise((resolve) => setImmediate(resolve))]);
  t.true(isServed);
});

test('a call ends with the reason of its signal, before, during and after the head, and gives its turn back', async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200).write('begun');
  });
  const fetch = fetchOf();
  const why = new Error('I changed my mind');
  await t.throwsAsync(fetch(url, { signal: AbortSignal.abort(why) }), { is: why });
  for (let i = 0; i < AT_ONCE + 2; i++) {
    const controller = new AbortController();
    const waiting = fetch(url, { signal: controller.signal });
    setTimeout(() => controller.abort(why), 5);
    await t.throwsAsync(waiting, { is: why });
  }
  for (let i = 0; i < AT_ONCE + 2; i++) {
    const controller = new AbortController();
    const reading = (await fetch(`${url}/body`, { signal: controller.signal })).text();
    controller.abort(why);
    await t.throwsAsync(reading, { is: why });
  }
  for (let i = 0; i < AT_ONCE + 2; i++) await (await fetch(`${url}/body`)).body?.cancel();
  const stop = new AbortController();
  const stopped = fetchOf({ stop: stop.signal })(url);
  stop.abort(why);
  await t.throwsAsync(stopped, { is: why });
});
