// The live stream of the page: pauses, gaps, hidden pages, and one paint a second.
import test from 'ava';
import { ENDED, GAP, LiveStream, pauseBefore, type Socket } from '../page/live/live-stream.js';
import { type ClientPage, pageWithUsage, reordered, usageOf, withUsage } from '../page/live/patches.js';

class FakeSocket implements Socket {
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  isClosed = false;
  readonly sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.isClosed = true;
  }
  say(type: string, seq: number, payload: unknown = {}): void {
    this.onmessage?.({ data: JSON.stringify({ type, seq, time: 0, payload }) });
  }
}

function world() {
  const sockets: FakeSocket[] = [];
  const timers = new Map<number, { readonly run: () => void; readonly ms: number }>();
  let last = 0;
  const place = { isHidden: false };
  const stream = new LiveStream({
    connect: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    later: (run, ms) => {
      const id = ++last;
      timers.set(id, { run, ms });
      return () => void timers.delete(id);
    },
    isHidden: () => place.isHidden,
    random: () => 1,
  });
  const heard: [string, readonly unknown[]][] = [];
  for (const type of ['status', 'traffic', GAP, ENDED])
    stream.on(type, (payloads) => heard.push([type, payloads]));
  const socket = (): FakeSocket => sockets.at(-1) as FakeSocket;
  const elapse = (): number[] => {
    const due = [...timers.values()];
    timers.clear();
    for (const { run } of due) run();
    return due.map(({ ms }) => ms);
  };
  return { stream, sockets, socket, heard, elapse, place };
}

test('messages are handed over together, once a second', (t) => {
  const { stream, socket, heard, elapse } = world();
  stream.start();
  socket().onopen?.();
  t.is(stream.state(), 'live');
  socket().say('snapshot', 5, { status: { cpu: 1 } });
  socket().say('status', 6, { cpu: 2 });
  socket().say('traffic', 7, { onlineCount: 3 });
  t.deepEqual(heard, []);
  t.deepEqual(elapse(), [1000]);
  t.deepEqual(heard, [
    ['status', [{ cpu: 1 }, { cpu: 2 }]],
    ['traffic', [{ onlineCount: 3 }]],
  ]);
});

test('what is wanted one by one comes at once, also to a hidden page, and is no gap', (t) => {
  const { stream, socket, heard, place } = world();
  const lines: unknown[] = [];
  const end = stream.onEach('lines', (payload) => void lines.push(payload));
  stream.send({ type: 'watch' });
  stream.start();
  stream.send({ type: 'watch' });
  socket().onopen?.();
  stream.send({ type: 'watch', log: 'lines' });
  t.deepEqual(socket().sent, ['{"type":"watch","log":"lines"}']);
  socket().say('snapshot', 5);
  place.isHidden = true;
  socket().say('lines', 5, 1);
  socket().say('lines', 5, 2);
  place.isHidden = false;
  stream.shown();
  t.deepEqual(lines, [1, 2]);
  t.deepEqual(heard, []);
  end();
  socket().say('lines', 5, 3);
  t.deepEqual(lines, [1, 2]);
});

test('a number that is skipped is a gap; what is not JSON is nothing', (t) => {
  const { stream, socket, heard } = world();
  stream.start();
  socket().say('snapshot', 1);
  socket().say('status', 2);
  socket().onmessage?.({ data: 'nonsense' });
  t.deepEqual(heard, []);
  socket().say('status', 4);
  t.deepEqual(heard, [[GAP, []]]);
});

test('it connects again with growing pauses, and what was missed is a gap', (t) => {
  const { stream, sockets, socket, heard, elapse } = world();
  stream.start();
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    socket().onclose?.({ code: 1006 });
    t.is(stream.state(), 'waiting');
    pauses.push(...elapse());
  }
  t.deepEqual(pauses, [1000, 2000, 4000, 8000, 15_000, 15_000]);
  t.is(sockets.length, 7);
  socket().onopen?.();
  socket().say('snapshot', 9);
  t.deepEqual(heard, [[GAP, []]]);
  socket().onclose?.({ code: 1006 });
  t.deepEqual(elapse(), [1000], 'the pauses begin again');
  t.true(pauseBefore(1, () => 0) >= 500);
});

test('a hidden page gets nothing, and a gap when it is shown', (t) => {
  const { stream, socket, heard, elapse, place } = world();
  stream.start();
  socket().say('snapshot', 1);
  place.isHidden = true;
  socket().say('status', 2);
  socket().say('status', 3);
  elapse();
  t.deepEqual(heard, []);
  stream.shown();
  t.deepEqual(heard, []);
  place.isHidden = false;
  stream.shown();
  t.deepEqual(heard, [[GAP, []]]);
});

test('the end of the session ends the stream', (t) => {
  const { stream, sockets, socket, heard, elapse } = world();
  stream.start();
  socket().onclose?.({ code: 4401 });
  t.is(stream.state(), 'off');
  t.deepEqual(heard, [[ENDED, []]]);
  elapse();
  t.is(sockets.length, 1);
  stream.start();
  t.is(sockets.length, 2);
  stream.stop();
  t.true(socket().isClosed);
});

test('usage changes the rows that it names, and no other', (t) => {
  const row = (id: number, email: string, up: number) => ({
    id,
    email,
    enable: true,
    traffic: { email, up, down: 0, lastOnline: 0, enable: true },
  });
  const page = { filtered: 2, items: [row(1, 'ann', 1), row(2, 'ben', 1)] } as never;
  const stats = (up: number) => [{ clients: [{ ...row(2, 'ben', up).traffic, enable: false }] }];
  const patched = pageWithUsage(page, usageOf([...stats(5), ...stats(9)])) as unknown as {
    items: ReturnType<typeof row>[];
  };
  t.is(patched.items[0], (page as { items: never[] }).items[0]);
  t.is(patched.items[1]?.traffic.up, 9);
  t.false(patched.items[1]?.enable);
  t.is(pageWithUsage(page, usageOf([{ clients: null }])), page);
});

test('rows stay where they are when the panel has another order', (t) => {
  const page = (up: number, ...ids: number[]) =>
    ({ filtered: ids.length, items: ids.map((id) => ({ id, up })) }) as unknown as ClientPage;
  t.deepEqual(reordered(page(0, 1, 2), page(9, 1, 2)), { kind: 'same' });
  t.deepEqual(reordered(page(0, 1, 2, 3), page(9, 3, 1)), {
    kind: 'moved',
    page: {
      filtered: 3,
      items: [
        { id: 1, up: 9 },
        { id: 2, up: 0 },
        { id: 3, up: 9 },
      ],
    } as unknown as ClientPage,
  });
});

test('a client that was seen again is another one, also where it moved no bytes', (t) => {
  const traffic = { email: 'ann', up: 1, down: 2, lastOnline: 5, enable: true };
  const row = { email: 'ann', enable: true, traffic } as never as ClientPage['items'][number];
  const after = (changes: object) => withUsage(row, usageOf([{ clients: [{ ...traffic, ...changes }] }]));
  t.is(after({}), row);
  for (const [name, value] of [
    ['lastOnline', 9],
    ['up', 9],
    ['down', 9],
  ] as const)
    t.is(after({ [name]: value }).traffic?.[name], value, name);
  t.false(after({ enable: false }).enable);
});

test('a stream that is stopped between two attempts makes no other one', (t) => {
  const { stream, socket, sockets, elapse } = world();
  stream.start();
  socket().onclose?.({ code: 1006 });
  t.is(stream.state(), 'waiting');
  stream.stop();
  elapse();
  t.is(sockets.length, 1);
  t.is(stream.state(), 'off');
});
