// What waits to be written survives failed writes, and memory that is loaded again.
import test from 'ava';
import { DeviceMemory } from '../device-memory.js';
import { type Sighting, WaitingRows } from '../waiting-rows.js';

const sighting = (hash: string, at: number, isNew: boolean): Sighting => ({
  clientId: 1,
  hash,
  at,
  firstAt: at,
  isNew,
  userAgent: '',
  deviceOs: '',
  osVersion: '',
  deviceModel: '',
});
const take = (rows: WaitingRows, most = 100) => {
  const { seen, gone } = rows.take(most);
  return [
    ...seen.map(({ hash, at, isNew }) => `${hash} ${at}${isNew ? ' new' : ''}`),
    ...gone.map(({ hash }) => `${hash} gone`),
  ];
};

test('several sightings of one device are one row, the latest', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  rows.seen(sighting('a', 2, false));
  rows.seen(sighting('b', 2, false));
  t.is(rows.size, 2);
  t.deepEqual(take(rows), ['a 2 new', 'b 2']);
  t.is(rows.size, 0);
});

test('a device that is seen again before it is written keeps its first sighting', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  rows.seen(sighting('a', 2, false));
  take(rows);
  rows.seen(sighting('a', 3, false));
  rows.failed();
  t.deepEqual(
    rows.take(1).seen.map(({ firstAt, at }) => [firstAt, at]),
    [[1, 3]],
  );
});

test('a failed write is part of the next one, with what came meanwhile', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  rows.seen(sighting('b', 1, true));
  rows.gone({ clientId: 1, hash: 'c' });
  t.deepEqual(take(rows), ['a 1 new', 'b 1 new', 'c gone']);
  rows.seen(sighting('a', 2, false));
  rows.gone({ clientId: 1, hash: 'b' });
  rows.seen(sighting('c', 2, true));
  rows.failed();
  t.deepEqual(take(rows), ['a 2 new', 'c 2 new'], 'b never had a row');
  rows.stored();
  t.deepEqual(take(rows), []);
});

test('a device that is dropped while it is written is deleted by the next write', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  t.deepEqual(take(rows), ['a 1 new']);
  rows.gone({ clientId: 1, hash: 'a' });
  t.true(rows.isGone({ clientId: 1, hash: 'a' }));
  rows.stored();
  t.deepEqual(take(rows), ['a gone']);
});

test('a device that comes back and is dropped again while it is written is deleted as well', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  t.deepEqual(take(rows), ['a 1 new']);
  rows.gone({ clientId: 1, hash: 'a' });
  rows.seen(sighting('a', 2, true));
  rows.gone({ clientId: 1, hash: 'a' });
  rows.stored();
  t.deepEqual(take(rows), ['a gone']);
});

test('a write takes only so many, and what an admin removed is not written', (t) => {
  const rows = new WaitingRows();
  for (const hash of ['a', 'b', 'c']) rows.seen(sighting(hash, 1, true));
  t.deepEqual(take(rows, 2), ['a 1 new', 'b 1 new']);
  rows.stored();
  rows.forget(1, ['c']);
  t.deepEqual(take(rows), []);
});

test('memory that is loaded again gets what was not written yet', (t) => {
  const rows = new WaitingRows();
  rows.seen(sighting('a', 1, true));
  take(rows);
  rows.seen(sighting('b', 2, true));
  rows.gone({ clientId: 1, hash: 'old' });
  const memory = new DeviceMemory();
  memory.add(1, 'old', 0);
  rows.applyTo(memory);
  t.deepEqual(memory.of(1), [
    { hash: 'a', lastSeen: 1 },
    { hash: 'b', lastSeen: 2 },
  ]);
  t.is(memory.size, 2);
  t.is(memory.oldest(1)?.hash, 'a');
  memory.removeAll(1);
  t.is(memory.size, 0);
});
