// Runs on every database in test:full.
import test from 'ava';
import type { Database, Log } from '../../../kernel/index.js';
import type { CoreReadings } from '../core-readings.js';
import type { OutboundRows } from '../outbound-rows.js';
import { OutboundStore } from '../store.js';
import { openWorld } from './world.js';

test('resets one outbound or all; bytes from before the reset do not appear after it', async (t) => {
  const { engine, panel, poll, bytes, reset, list } = await openWorld();
  await using _ = panel;
  engine.moveOut('direct', 1, 100);
  engine.moveOut('second', 2, 200);
  await poll();
  const ids = (await list()).map(({ id }) => id);
  engine.moveOut('direct', 5, 500);
  const { body } = await reset('direct');
  t.deepEqual([body.success, body.msg], [true, 'the traffic of the outbound direct is zero']);
  t.deepEqual(await bytes(), { direct: [0, 0], second: [2, 200] });
  await poll();
  t.deepEqual((await bytes())['direct'], [0, 0]);
  engine.moveOut('direct', 1, 1);
  await poll();
  t.deepEqual((await bytes())['direct'], [1, 1]);
  await reset('-alltags-');
  t.deepEqual(await bytes(), { direct: [0, 0], second: [0, 0] });
  t.deepEqual(
    (await list()).map(({ id }) => id),
    ids,
  );
  const form = await panel.call('/panel/api/engine/resetOutboundsTraffic', {
    rawBody: 'tag=second',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.is(form.status, 200);
});

test('the live stream has the list after each poll that moved bytes, and after a reset', async (t) => {
  const { engine, panel, poll, reset, store } = await openWorld();
  await using _ = panel;
  const sent: unknown[] = [];
  t.truthy(store.live);
  store.live = {
    send: (payload) => void sent.push((payload as () => unknown)()),
    invalidate: () => undefined,
  };
  engine.moveOut('direct', 1, 100);
  await poll();
  await poll();
  await reset('direct');
  const [id] = store.list().map((one) => one.id);
  t.deepEqual(sent, [
    [{ id, tag: 'direct', up: 1, down: 100, total: 101 }],
    [{ id, tag: 'direct', up: 0, down: 0, total: 0 }],
  ]);
});

test('an unknown tag is refused by name and changes nothing; one that has moved nothing yet is fine', async (t) => {
  const { engine, panel, bytes, reset } = await openWorld();
  await using _ = panel;
  engine.moveOut('direct', 1, 100);
  const { status, body } = await reset('dirct');
  t.is(status, 404);
  t.is(body.code, 'OUTBOUND_TRAFFIC_NO_OUTBOUND');
  t.regex(body.msg, /"dirct"/);
  t.deepEqual(await bytes(), { direct: [1, 100] });
  t.is((await reset('blocked')).status, 200, 'it is in the config');
  for (const wrong of ['', 5, null, ['direct'], 'x'.repeat(5000)]) {
    const { status, body } = await reset(wrong);
    t.is(status, 400, JSON.stringify(wrong)?.slice(0, 20));
    t.regex(body.msg, /tag/);
  }
  t.is((await panel.call('/panel/api/engine/resetOutboundsTraffic', { body: {} })).status, 400);
  t.deepEqual(await bytes(), { direct: [1, 100] });
});

test('an outbound that no config has keeps its traffic until it is removed; back again, it counts from there', async (t) => {
  const { engine, panel, poll, bytes, prune, store } = await openWorld();
  await using _ = panel;
  engine.outboundTags = ['direct', 'old'];
  engine.moveOut('direct', 1, 100);
  engine.moveOut('old', 2, 200);
  await poll();
  t.deepEqual(await prune(), []);
  engine.outboundTags = ['direct'];
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 100], old: [2, 200] });
  t.deepEqual(await prune(), ['old']);
  // The core still has the counter.
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 100] });
  engine.moveOut('old', 1, 10);
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 100], old: [1, 10] }, 'a connection that was still open');
  t.deepEqual(await prune(), ['old']);
  engine.restart('second');
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 100] });
  engine.moveOut('old', 4, 40);
  await poll();
  t.deepEqual(await bytes(), { direct: [1, 100], old: [4, 40] });
  t.is(store.list().length, 2);
});

test('a removed outbound is removed for good with the next core', async (t) => {
  const { engine, panel, poll, prune } = await openWorld();
  await using _ = panel;
  engine.outboundTags = [];
  engine.moveOut('old', 2, 200);
  t.deepEqual(await prune(), ['old']);
  engine.restart('second');
  await poll();
  const kept = await panel.get<object[]>('/panel/api/engine/getOutboundsTraffic');
  t.deepEqual(kept, []);
  engine.outboundTags = ['old'];
  engine.moveOut('old', 1, 10);
  await poll();
  t.like((await panel.get<object[]>('/panel/api/engine/getOutboundsTraffic'))[0], { up: 1, down: 10 });
});

test('the number of rows is bounded; those beyond it are named, and count once there is room', async (t) => {
  const state = new Map<string, object>();
  const said: object[] = [];
  let stored = 0;
  const rows = {
    state,
    save: async (_: object, saved: { tag: string }[]) => {
      if (saved.length > 0) stored += 1;
      for (const row of saved) state.set(row.tag, row);
    },
    delete: async () => undefined,
  } as unknown as OutboundRows;
  const readings = {
    areShared: false,
    last: (_tag: string, _epoch: string, row: unknown) => row,
    over: () => [],
    save: async () => undefined,
  } as unknown as CoreReadings;
  const db = {
    write: async (work: (tx: object) => Promise<void>) => work({}),
  } as unknown as Database;
  const log = { error: (_: string, data: object) => void said.push(data) } as unknown as Log;
  const store = new OutboundStore({ db, log, rows, readings }, 2);
  const reading = (...tags: string[]) => ({
    epoch: 'first',
    outbounds: tags.map((tag) => ({ tag, up: 1, down: 1 })),
  });
  await store.count(reading('a', 'b', 'c'));
  await store.count(reading('a', 'b', 'c'));
  t.deepEqual([...state.keys()], ['a', 'b']);
  t.is(stored, 1);
  t.is(said.length, 1, 'reported once');
  t.like(said[0], { notCounted: 1, first: 'c' });
  state.delete('a');
  await store.count(reading('b', 'c'));
  t.like(state.get('c'), { up: 1, down: 1 });
});
