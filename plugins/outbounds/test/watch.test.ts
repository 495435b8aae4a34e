// Outbounds that go down and come back, on the schedule.
import test from 'ava';
import { OutboundWatch } from '../watch.js';
import type { Asked } from '../tester.js';

const MINUTE = 60_000;

function world(threshold = 3) {
  const emitted: [string, string][] = [];
  const settings = { outboundTestMinutes: 5, outboundDownThreshold: threshold };
  const state = { now: 0, works: new Set(['a', 'b']), batches: [] as number[], outbounds: ['a', 'b'] };
  const watch = new OutboundWatch({
    clock: { now: () => state.now },
    hooks: {
      emit: (({ id }: { id: string }, { outbounds }: { outbounds: readonly { tag: string }[] }) =>
        void emitted.push([id, outbounds.map(({ tag }) => tag).join()])) as never,
    },
    log: { warn: () => undefined, info: () => undefined } as never,
    settings: { read: () => settings },
    configured: {
      tags: async () => new Set(state.outbounds),
      all: async () => [
        { tag: 'direct', protocol: 'freedom' },
        { tag: 'bridge', protocol: 'vless', settings: { reverse: { tag: 'r' } } },
        ...state.outbounds.map((tag) => ({ tag, protocol: 'vless' })),
      ],
    },
    tester: {
      test: async ({ outbounds }: Asked) => {
        state.batches.push(outbounds.length);
        return outbounds.map(({ tag }) => ({
          tag: String(tag),
          mode: 'http' as const,
          success: state.works.has(String(tag)),
          delay: 7,
          ...(state.works.has(String(tag)) ? {} : { error: 'refused' }),
        }));
      },
    },
  });
  const { signal } = new AbortController();
  return {
    watch,
    state,
    settings,
    emitted,
    run: () => watch.run(signal),
    tick: () => watch.runWhenDue(signal),
  };
}

test('an outbound is down after so many failures in a row, and up again after one success; each once', async (t) => {
  const { watch, state, emitted, run } = world();
  await run();
  state.works.delete('b');
  await run();
  await run();
  state.works.add('b');
  await run();
  state.works.delete('b');
  await run();
  await run();
  t.deepEqual(emitted, []);
  await run();
  t.is(emitted.length, 1);
  await run();
  t.deepEqual(emitted, [['outbounds/outboundDown', 'b']]);
  t.like(watch.health[1], { tag: 'b', up: false, failures: 4, error: 'refused' });
  state.works.add('b');
  await run();
  await run();
  t.deepEqual(emitted.slice(1), [['outbounds/outboundUp', 'b']]);
  t.like(watch.health[0], { tag: 'a', up: true, failures: 0, delay: 7, error: '' });
});

test('tests come as the setting says; 0 ends them and forgets; an outbound that is gone is forgotten', async (t) => {
  const { watch, state, settings, tick } = world();
  await tick();
  state.now += MINUTE;
  await tick();
  t.deepEqual(state.batches, [2]);
  state.now += 4 * MINUTE;
  state.outbounds = ['a'];
  await tick();
  t.deepEqual(state.batches, [2, 1]);
  t.deepEqual(
    watch.health.map(({ tag }) => tag),
    ['a'],
  );
  settings.outboundTestMinutes = 0;
  state.now += 60 * MINUTE;
  await tick();
  t.deepEqual([state.batches.length, watch.health.length], [2, 0]);
});

test('those that change at once are one event', async (t) => {
  const { state, emitted, run } = world(1);
  await run();
  state.works.clear();
  await run();
  state.works = new Set(['a', 'b']);
  await run();
  t.deepEqual(emitted, [
    ['outbounds/outboundDown', 'a,b'],
    ['outbounds/outboundUp', 'a,b'],
  ]);
});

test('more than fifty are tested in batches', async (t) => {
  const { state, watch, run } = world();
  state.outbounds = Array.from({ length: 120 }, (_, at) => `o${at}`);
  await run();
  t.deepEqual(state.batches, [50, 50, 20]);
  t.is(watch.health.length, 120);
});
