import test from 'ava';
import { PeerIndex } from '../peers.js';
import { portIn, socketKey, type SocketTable } from '../socket-table.js';

const PORT = 443;
const keyOf = (port: number): string => socketKey('010200C0', port, PORT);
/** Peer's port → inode. */
const table = (sockets: Readonly<Record<number, number>>): SocketTable =>
  new Map(Object.entries(sockets).map(([port, inode]) => [keyOf(Number(port)), inode]));

class Story {
  readonly index: PeerIndex;
  now: SocketTable = table({});
  constructor(index = new PeerIndex()) {
    this.index = index;
  }
  heard(user: string, port: number): void {
    this.index.logged(user, keyOf(port));
  }
  settle(sockets: Readonly<Record<number, number>>): void {
    this.now = table(sockets);
    this.index.settle(this.now, this.index.mark());
  }
  of(user: string): number[] {
    return this.index.of(user, this.now).map(portIn);
  }
}

test('a user has the connections that were logged and are open', (t) => {
  const story = new Story();
  for (const port of [1, 2, 3]) story.heard('a', port);
  story.heard('b', 4);
  t.deepEqual(story.of('a'), [], 'not before the kernel has confirmed them');
  story.settle({ 1: 11, 2: 12, 4: 14 });
  t.deepEqual(story.of('a'), [1, 2]);
  t.deepEqual(story.of('b'), [4]);
  t.deepEqual([story.index.size, story.index.users()], [3, ['a', 'b']], 'the third was over');
  t.deepEqual([...story.index.localPorts()], [PORT]);
});

test('many streams of one connection are one connection', (t) => {
  const story = new Story();
  for (let i = 0; i < 100; i += 1) story.heard('a', 1);
  story.settle({ 1: 11 });
  t.deepEqual(story.of('a'), [1]);
  t.is(story.index.size, 1);
});

test('a port that a new socket uses belongs to the user who was logged on it since, or to nobody', (t) => {
  const story = new Story();
  story.heard('a', 1);
  story.heard('a', 2);
  story.settle({ 1: 11, 2: 12 });
  story.heard('b', 1);
  t.deepEqual(story.of('a'), [2], 'doubtful at once, before the next look');
  story.settle({ 1: 21, 2: 22 });
  t.deepEqual(story.of('a'), []);
  t.deepEqual(story.of('b'), [1]);
  t.deepEqual(story.index.users(), ['b']);
});

test('a connection that two users share is closed for neither, and its address counts as a proxy', (t) => {
  const story = new Story();
  story.heard('a', 1);
  story.heard('a', 2);
  story.settle({ 1: 11, 2: 12 });
  story.heard('b', 1);
  story.settle({ 1: 11, 2: 12 });
  t.deepEqual([story.of('a'), story.of('b')], [[2], []]);
  story.settle({ 1: 11, 2: 12 });
  t.deepEqual(story.of('a'), [], 'nor any other from there');
});

test('a connection on which two users were logged between two readings belongs to nobody', (t) => {
  const story = new Story();
  story.heard('a', 1);
  story.heard('b', 1);
  story.settle({ 1: 11 });
  t.deepEqual([story.of('a'), story.of('b')], [[], []]);
});

test('a row that is missing once drops nothing, twice drops the connection', (t) => {
  const story = new Story();
  story.heard('a', 1);
  story.settle({ 1: 11 });
  story.settle({});
  t.deepEqual(story.of('a'), [], 'what is not there is not ended');
  story.settle({ 1: 11 });
  t.deepEqual(story.of('a'), [1]);
  story.settle({});
  story.settle({});
  t.is(story.index.size, 0);
});

test('what is logged while the table is read is compared with the next one', (t) => {
  const story = new Story();
  const mark = story.index.mark();
  story.heard('a', 1);
  story.index.settle(table({}), mark);
  t.is(story.index.size, 1);
  story.settle({ 1: 11 });
  t.deepEqual(story.of('a'), [1]);
});

test('memory is bounded, per user and in total; the oldest are dropped first', (t) => {
  const story = new Story(new PeerIndex({ peers: 5, ofUser: 3 }));
  for (const port of [1, 2, 3, 4]) story.heard('a', port);
  story.heard('b', 5);
  story.heard('b', 6);
  t.is(story.index.size, 5);
  story.heard('c', 7);
  t.is(story.index.size, 5);
  story.settle({ 1: 11, 2: 12, 3: 13, 4: 14, 5: 15, 6: 16, 7: 17 });
  t.deepEqual([story.of('a'), story.of('b'), story.of('c')], [[3, 4], [5, 6], [7]]);
  story.index.clear();
  t.deepEqual([story.index.size, story.index.users()], [0, []]);
});
