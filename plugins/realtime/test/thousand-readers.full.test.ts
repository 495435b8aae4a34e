// A thousand readers for five minutes: the memory of the panel stays flat, each gets each message in time, and ten that
// read nothing are disconnected and hurt nobody.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { WebSocket } from 'ws';
import type { LoudPanel, Memory } from './loud-panel.js';

const READERS = 1000;
const DEAF = 10;
const MINUTES = Number(process.env['WEIR_TEST_MINUTES'] ?? 5);
const STATUS_MS = 2000;
const MIB = 2 ** 20;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('a thousand readers at two seconds: flat memory, no late messages, slow readers hurt nobody', async (t) => {
  t.timeout((MINUTES + 3) * 60_000);
  const child = fork(fileURLToPath(new URL('loud-panel.js', import.meta.url)), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [panel] = (await once(child, 'message')) as [LoudPanel];
  const memory = async (): Promise<Memory> => {
    child.send('memory');
    const [answer] = (await once(child, 'message')) as [Memory];
    return answer;
  };
  const connect = () => {
    const socket = new WebSocket(`${panel.url.replace('http', 'ws')}/ws`, {
      headers: { cookie: panel.cookie },
      perMessageDeflate: false,
    });
    t.teardown(() => socket.terminate());
    return socket;
  };
  const readers: { count: number; messages: number; at: number; longest: number; closed: boolean }[] = [];
  while (readers.length < READERS) {
    const opened: Promise<unknown>[] = [];
    for (let i = 0; i < 50; i++) {
      const reader = { count: 0, messages: 0, at: 0, longest: 0, closed: false };
      const socket = connect();
      socket.on('message', (data: Buffer) => {
        reader.messages++;
        // The type stands at the beginning; parsing a thousand messages would be work of the test.
        if (data.toString('latin1', 0, 30).startsWith('{"type":"status"')) {
          const now = performance.now();
          if (reader.at > 0) reader.longest = Math.max(reader.longest, now - reader.at);
          reader.at = now;
          reader.count++;
        }
      });
      socket.on('close', () => (reader.closed = true));
      socket.on('error', () => undefined);
      opened.push(once(socket, 'open'));
      readers.push(reader);
    }
    await Promise.all(opened);
  }
  const deaf = Array.from({ length: DEAF }, connect);
  let deafClosed = 0;
  for (const socket of deaf) {
    socket.on('close', () => deafClosed++);
    socket.on('error', () => undefined);
    await once(socket, 'message');
    socket.pause();
  }
  // The pools of the first messages are part of what it needs.
  await sleep(10_000);
  const samples: Memory[] = [];
  const began = performance.now();
  for (const reader of readers) Object.assign(reader, { count: 0, messages: 0, at: 0, longest: 0 });
  while (performance.now() - began < MINUTES * 60_000) {
    await sleep(5000);
    samples.push(await memory());
  }
  const seconds = (performance.now() - began) / 1000;
  const quarter = Math.floor(samples.length / 4);
  const grown = (figure: (sample: Memory) => number) =>
    (mean(samples.slice(-quarter).map(figure)) - mean(samples.slice(0, quarter).map(figure))) / MIB;
  const last = samples.at(-1);
  const counts = readers.map(({ count }) => count);
  const longest = Math.max(...readers.map((reader) => reader.longest));
  t.log({
    readers: readers.length,
    minutes: MINUTES,
    rssMiB: Math.round((last?.rss ?? 0) / MIB),
    heapMiB: Math.round((last?.heapUsed ?? 0) / MIB),
    rssGrownMiB: grown(({ rss }) => rss).toFixed(1),
    heapGrownMiB: grown(({ heapUsed }) => heapUsed).toFixed(1),
    externalGrownMiB: grown(({ external }) => external).toFixed(1),
    fewestStatus: Math.min(...counts),
    longestGapMs: Math.round(longest),
    messages: Math.min(...readers.map(({ messages }) => messages)),
  });
  t.true(grown(({ heapUsed }) => heapUsed) < 10, 'the heap is flat');
  t.true(grown(({ external }) => external) < 20, 'the buffers are flat');
  t.false(
    readers.some(({ closed }) => closed),
    'nobody who reads is disconnected',
  );
  t.true(Math.min(...counts) >= (0.9 * seconds * 1000) / STATUS_MS - 1);
  t.true(longest < 3 * STATUS_MS, `${Math.round(longest)} ms without a status`);
  // They were disconnected for the ping that they did not answer, and find out when they read again.
  for (const socket of deaf) socket.resume();
  for (let second = 0; second < 30 && deafClosed < DEAF; second++) await sleep(1000);
  if (MINUTES >= 2) t.is(deafClosed, DEAF, 'those who read nothing are disconnected');
});
