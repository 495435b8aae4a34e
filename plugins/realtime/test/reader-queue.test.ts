import test from 'ava';
import { Frame } from '../frame.js';
import type { LiveOutput } from '../contract.js';
import { addLiveTypes } from '../live-types.js';
import { type Reader, ReaderQueue } from '../reader-queue.js';
import { Stream } from '../stream.js';

/** A reader that takes what is sent when a test says so. */
class SlowReader implements Reader {
  readonly received: string[] = [];
  readonly #socket: Frame[] = [];
  drained?: () => void;
  wasCut = false;

  mayRead(): boolean {
    return true;
  }
  backlog(): number {
    return this.#socket.reduce((sum, { text }) => sum + text.length, 0);
  }
  send(frame: Frame): void {
    this.#socket.push(frame);
  }
  cut(): void {
    this.wasCut = true;
  }
  /** Reads so many messages, and reports like a socket that has become empty. */
  read(count = Number.POSITIVE_INFINITY): void {
    for (let i = 0; i < count && this.#socket.length > 0; i++)
      this.received.push(nameOf(this.#socket.shift() as Frame));
    if (this.#socket.length === 0) this.drained?.();
  }
}
const nameOf = ({ type, text }: Frame): string => `${type} ${(JSON.parse(text) as { seq: number }).seq}`;
let seq = 0;
/** `event`: no newer message replaces it. */
const frame = (type: string, key: string = type, size = 10) =>
  new Frame(type, JSON.stringify('x'.repeat(size)), ++seq, 0, key === 'event' ? undefined : key);
const LARGE = 100_000;

function opened() {
  seq = 0;
  const reader = new SlowReader();
  const queue = new ReaderQueue(reader);
  queue.open(frame('snapshot'));
  reader.read();
  return { reader, queue };
}

test('a reader that reads gets every message, in order', (t) => {
  const { reader, queue } = opened();
  for (let i = 0; i < 50; i++) {
    queue.push(frame('status'));
    reader.read();
  }
  t.deepEqual(
    reader.received.slice(1),
    Array.from({ length: 50 }, (_, i) => `status ${i + 2}`),
  );
});

test('a short stall loses nothing', (t) => {
  const { reader, queue } = opened();
  queue.push(frame('status', 'status', LARGE));
  for (let i = 0; i < 10; i++) queue.push(frame('status'));
  for (let i = 0; i < 12; i++) reader.read();
  t.is(reader.received.length, 12);
  t.deepEqual(
    reader.received.map((name) => Number(name.split(' ')[1])),
    Array.from({ length: 12 }, (_, i) => i + 1),
  );
});

test('under pressure the newest state wins, events stay, and the order is that of sending', (t) => {
  const { reader, queue } = opened();
  queue.push(frame('traffic', 'traffic', LARGE));
  for (let i = 0; i < 500; i++) {
    queue.push(frame('status'));
    queue.push(frame('traffic'));
    if (i % 100 === 0) queue.push(frame('notification', 'event'));
    queue.push(frame('invalidate', `invalidate r${i % 3}`));
  }
  reader.read();
  reader.read();
  const names = reader.received.map((name) => name.split(' ')[0]);
  const seqs = reader.received.map((name) => Number(name.split(' ')[1]));
  t.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  t.is(names.filter((name) => name === 'notification').length, 5);
  t.true(reader.received.length < 40, `${reader.received.length} messages`);
  t.is(seqs.at(-1), seq);
  // The last of each is there.
  for (const [type, back] of [
    ['status', 2],
    ['traffic', 1],
  ] as const)
    t.true(reader.received.includes(`${type} ${seq - back}`), type);
});

test('what waits is bounded: events that nobody reads end the connection', (t) => {
  const { queue } = opened();
  queue.push(frame('traffic', 'traffic', LARGE));
  let accepted = 0;
  while (queue.push(frame('notification', 'event')) && accepted < 1000) accepted++;
  t.is(accepted, 100);
});

test('nothing is sent before the snapshot', (t) => {
  seq = 0;
  const reader = new SlowReader();
  const queue = new ReaderQueue(reader);
  queue.push(frame('status'));
  reader.read();
  t.deepEqual(reader.received, []);
  queue.open(frame('snapshot'));
  reader.read();
  reader.read();
  t.deepEqual(reader.received, ['snapshot 2', 'status 1']);
});

test('who reads nothing is stuck after six checks; who reads a little is not', (t) => {
  const { reader, queue } = opened();
  const checks = (count: number) => Array.from({ length: count }, () => queue.isStuck());
  t.deepEqual(checks(10), Array(10).fill(false), 'nothing waits');
  for (let i = 0; i < 5; i++) queue.push(frame('status', 'status', LARGE));
  t.deepEqual(checks(6), [false, false, false, false, false, true]);
  const other = opened();
  for (let i = 0; i < 30; i++) other.queue.push(frame(`s${i}`, `s${i}`, LARGE));
  for (let i = 0; i < 25; i++) {
    if (i % 5 === 0) other.reader.read(1);
    t.false(other.queue.isStuck());
  }
  t.is(reader.received.length, 1);
});

test('a closed queue sends nothing more', (t) => {
  const { reader, queue } = opened();
  queue.push(frame('status', 'status', LARGE));
  queue.push(frame('status'));
  queue.close();
  reader.read();
  t.deepEqual(reader.received, ['snapshot 1', 'status 2']);
});

test('a stream replaces states and invalidations of a slow reader, and no events', async (t) => {
  const stream = new Stream({
    log: { info: () => undefined, debug: () => undefined },
    clock: { now: () => 0 },
  } as never);
  const reader = new SlowReader();
  await stream.join(reader);
  reader.read();
  const outputs: LiveOutput[] = [];
  const invalidations = { add: (resource: string) => stream.invalidate(resource) };
  addLiveTypes(
    { stream, invalidations } as never,
    [{ type: 'news', isEvent: true } as const, { type: 'weather' }].map((type) => ({
      plugin: 'acme',
      value: { ...type, start: (out: LiveOutput) => void outputs.push(out) },
      fault: () => t.fail(),
    })),
  );
  const [news, weather] = outputs;
  stream.send('traffic', 'x'.repeat(LARGE));
  for (let i = 0; i < 40; i++) {
    stream.send('status', i);
    stream.invalidate(i % 2 ? 'clients' : 'hosts');
    weather?.send(i);
    if (i % 10 === 0) {
      stream.sendEvent('notification', i);
      news?.send(i);
    }
  }
  reader.read();
  reader.read();
  const count = (type: string) => reader.received.filter((name) => name.startsWith(type)).length;
  t.deepEqual([count('notification'), count('news')], [4, 4]);
  t.true(count('status') + count('weather') + count('invalidate') < 20);
  t.true(count('invalidate') >= 2, 'one for each resource');
});
