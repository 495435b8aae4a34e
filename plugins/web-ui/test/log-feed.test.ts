// A log as it is written: over reconnections, pauses, refusals and slow answers each line is there once, in its order.
import test from 'ava';
import type { LiveState } from '../page/live/live-stream.js';
import { type FeedParts, LogFeed } from '../page/system/log-feed.js';
import { entryOfConnection, entryOfPanel, isWanted } from '../page/system/log-lines.js';

/** A panel with a log, as far as the page knows it. */
class World {
  lines: string[] = [];
  epoch = 'a';
  stateNow: LiveState = 'off';
  refuses = false;
  isSilent = false;
  asked: (string | undefined)[] = [];
  fails = false;
  /** answers wait until `answer` is called */
  holds = false;
  #held: (() => void)[] = [];
  #watch: { place: number; epoch: string } | undefined;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #timers = new Map<number, () => void>();
  #lastTimer = 0;
  sent: object[] = [];

  readonly parts: FeedParts = {
    log: 'numbers',
    pauseMs: 2_000,
    stream: {
      state: () => this.stateNow,
      watch: (run) => {
        this.#watchers.add(run);
        return () => void this.#watchers.delete(run);
      },
      onEach: (type, listener) => {
        const all = this.#listeners.get(type) ?? new Set();
        this.#listeners.set(type, all.add(listener));
        return () => void all.delete(listener);
      },
      send: (message) => {
        this.sent.push(message);
        const { type, after } = message as { type: string; after?: string };
        if (type === 'unwatch') this.#watch = undefined;
        else if (this.refuses) this.emit('error', { msg: 'no', field: 'log', log: 'numbers' });
        else if (!this.isSilent) {
          const [epoch = this.epoch, at = this.lines.length] = after?.split('.') ?? [];
          this.#watch = { epoch, place: Number(at) };
          this.#isNew = true;
        }
      },
    },
    tail: async (after, signal) => {
      this.asked.push(after);
      if (this.holds) await new Promise<void>((resolve) => this.#held.push(resolve));
      if (this.fails) throw new Error('no panel');
      const [epoch, at] = after?.split('.') ?? [];
      const goesOn = epoch === this.epoch;
      const lines = goesOn ? this.lines.slice(Number(at)) : this.lines.slice(-5);
      signal.throwIfAborted();
      return {
        entries: lines.map(entryOfPanel),
        end: `${this.epoch}.${this.lines.length}`,
        goesOn,
        leftOut: 0,
      };
    },
    entryOf: (line) => entryOfPanel(String(line)),
    later: (run) => {
      const id = ++this.#lastTimer;
      this.#timers.set(id, run);
      return () => void this.#timers.delete(id);
    },
  };
  #isNew = false;

  emit(type: string, payload: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(payload);
  }
  write(...lines: string[]): void {
    this.lines.push(...lines);
  }
  connect(state: LiveState): void {
    this.stateNow = state;
    if (state !== 'live') this.#watch = undefined;
    for (const run of this.#watchers) run();
  }
  /** The panel looks whether the log has grown. */
  round(most = 100): void {
    const watch = this.#watch;
    if (!watch || (!this.#isNew && watch.epoch === this.epoch && watch.place === this.lines.length)) return;
    this.#isNew = false;
    const isLost = watch.epoch !== this.epoch;
    const lines = isLost ? [] : this.lines.slice(Math.max(watch.place, this.lines.length - most));
    this.emit('numbers', {
      after: `${watch.epoch}.${watch.place}`,
      end: `${this.epoch}.${this.lines.length}`,
      leftOut: isLost ? 0 : this.lines.length - watch.place - lines.length,
      isLost,
      lines,
    });
    this.#watch = { epoch: this.epoch, place: this.lines.length };
  }
  answer(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }
  elapse(): void {
    const due = [...this.#timers.values()];
    this.#timers.clear();
    for (const run of due) run();
  }
}
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const texts = (feed: LogFeed): string[] => feed.state().log?.lines.map(({ text }) => text) ?? [];

test('the last lines are asked for once, and what is written comes by itself', async (t) => {
  const world = new World();
  const feed = new LogFeed(world.parts);
  world.write('1', '2', '3');
  world.stateNow = 'live';
  feed.start();
  await settle();
  t.deepEqual(texts(feed), ['1', '2', '3']);
  t.deepEqual(world.sent, [{ type: 'watch', log: 'numbers', after: 'a.3' }]);
  t.false(feed.state().isStreamed, 'it was not answered');
  world.round();
  t.true(feed.state().isStreamed);
  world.write('4', '5');
  world.round();
  world.write('6');
  world.round();
  world.elapse();
  await settle();
  t.deepEqual(texts(feed), ['1', '2', '3', '4', '5', '6']);
  t.deepEqual(world.asked, [undefined]);
  const ids = feed.state().log?.lines.map(({ id }) => id);
  t.is(new Set(ids).size, 6);
});

test('a reconnection asks once for what was missed, and goes on', async (t) => {
  const world = new World();
  const feed = new LogFeed(world.parts);
  world.write('1');
  world.stateNow = 'live';
  feed.start();
  await settle();
  world.round();
  world.write('2');
  world.connect('waiting');
  t.false(feed.state().isStreamed);
  world.write('3');
  world.connect('connecting');
  world.connect('live');
  await settle();
  world.write('4');
  world.round();
  t.deepEqual(texts(feed), ['1', '2', '3', '4']);
  t.deepEqual(world.asked, [undefined, 'a.1']);
});

test('without the stream the panel is asked again; a stream that refuses or is silent is the same', async (t) => {
  for (const kind of ['off', 'refuses', 'isSilent'] as const) {
    const world = new World();
    const feed = new LogFeed(world.parts);
    if (kind !== 'off') {
      world[kind] = true;
      world.stateNow = 'live';
    }
    world.write('1');
    feed.start();
    await settle();
    // The silent one is given up.
    if (kind === 'isSilent') world.elapse();
    for (const line of ['2', '3']) {
      world.write(line);
      world.elapse();
      await settle();
    }
    t.deepEqual(texts(feed), ['1', '2', '3'], kind);
    t.false(feed.state().isStreamed);
    // The next connection is asked again.
    world.refuses = world.isSilent = false;
    world.connect('waiting');
    world.connect('live');
    await settle();
    world.round();
    t.true(feed.state().isStreamed, kind);
  }
});

test('a pause ends the watch, and what was written comes with the next start', async (t) => {
  const world = new World();
  const feed = new LogFeed(world.parts);
  world.stateNow = 'live';
  feed.start();
  await settle();
  world.round();
  feed.stop();
  t.deepEqual(world.sent.at(-1), { type: 'unwatch', log: 'numbers' });
  world.write('1', '2');
  world.round();
  world.elapse();
  await settle();
  t.deepEqual(texts(feed), []);
  t.is(world.asked.length, 1);
  feed.start();
  await settle();
  world.round();
  t.deepEqual(texts(feed), ['1', '2']);
});

test('a panel that began again is read from its end, and lines that were left out are counted', async (t) => {
  const world = new World();
  const feed = new LogFeed(world.parts);
  world.write('old');
  world.stateNow = 'live';
  feed.start();
  await settle();
  world.round();
  world.write(...Array.from({ length: 10 }, (_, i) => `burst ${i}`));
  world.round(3);
  t.deepEqual(texts(feed), ['old', '[7 lines left out]', 'burst 7', 'burst 8', 'burst 9']);
  t.is(feed.state().log?.lines[1]?.leftOut, 7);
  world.epoch = 'b';
  world.lines = ['new'];
  world.round();
  await settle();
  world.write('newer');
  world.round();
  t.deepEqual(texts(feed), ['new', 'newer']);
});

test('a failed call is told, and is made again', async (t) => {
  const world = new World();
  const feed = new LogFeed(world.parts);
  world.write('1');
  world.fails = true;
  feed.start();
  await settle();
  t.is((feed.state().error as Error).message, 'no panel');
  world.fails = false;
  world.elapse();
  await settle();
  t.is(feed.state().error, undefined);
  t.deepEqual(texts(feed), ['1']);
});

/** Numbers that follow from the seed. */
function random(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
}

test('whatever happens in whatever order, no line is missed and none is there twice', async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const world = new World();
    const feed = new LogFeed(world.parts);
    const next = random(seed);
    const did: string[] = [];
    const acts: Readonly<Record<string, () => void>> = {
      write: () => world.write(...Array.from({ length: next(4) }, (_, i) => `${world.lines.length + i}`)),
      round: () => world.round(),
      start: () => feed.start(),
      stop: () => feed.stop(),
      live: () => world.connect('live'),
      waiting: () => world.connect('waiting'),
      elapse: () => world.elapse(),
      hold: () => void (world.holds = true),
      answer: () => {
        world.holds = false;
        world.answer();
      },
      retry: () => feed.retry(),
      fail: () => void (world.fails = !world.fails),
    };
    const names = Object.keys(acts);
    world.write('0', '1');
    for (let step = 0; step < 60; step++) {
      const name = names[next(names.length)] as string;
      did.push(name);
      acts[name]?.();
      if (next(2) === 0) await settle();
    }
    world.fails = world.holds = false;
    world.answer();
    feed.start();
    world.connect('live');
    // A call that failed before is made again after a while.
    for (let i = 0; i < 3; i++) {
      await settle();
      world.round();
      world.elapse();
    }
    await settle();
    const shown = texts(feed);
    t.deepEqual(
      shown,
      world.lines.slice(world.lines.length - shown.length),
      `seed ${seed}: ${did.join(' ')}`,
    );
    t.true(shown.length >= Math.min(2, world.lines.length), `seed ${seed}`);
  }
});

test('the page chooses connections as the panel does', (t) => {
  const connection = {
    ...{
      DateTime: '2026-11-29T06:33:09.000Z',
      FromAddress: '192.0.2.1:5000',
      ToAddress: 'tcp:Example.com:443',
    },
    ...{ Inbound: 'in-1', Outbound: 'blocked', Email: 'ann', Event: 1 },
  };
  t.true(isWanted(connection, {}));
  t.true(isWanted(connection, { way: 'blocked', search: 'example' }));
  t.false(isWanted(connection, { way: 'direct' }));
  t.false(isWanted(connection, { search: 'ben' }));
  t.true(isWanted(connection, { search: '1' }));
  t.true(entryOfConnection(connection).text.includes('ann'));
});
