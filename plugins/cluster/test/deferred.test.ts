// What follows changes of others waits until the plugins of this panel have read their data, and is then told once.
import test from 'ava';
import type { Committed } from '../../../kernel/index.js';
import { Member } from '../member.js';

type Told = readonly { readonly hook: string; readonly payload: unknown }[];

function panel() {
  const events: Told[] = [];
  let apply: (state: object, told: unknown) => void = () => undefined;
  let last = 1;
  let others: Committed[] = [];
  const member = new Member({
    db: {
      query: async () => [{ last, is_free: 0 }],
      write: async () => undefined,
      projection: (source: { apply: typeof apply }) => {
        apply = source.apply;
        return { plugin: 'cluster' };
      },
    },
    hooks: { emit: (_: unknown, { told }: { told: Told }) => void events.push(told) },
    log: { debug: () => undefined, error: () => undefined },
    leadership: {
      name: 'lead',
      leads: false,
      mayTake: false,
      check: () => true,
      take: async () => undefined,
    },
    changes: { after: async () => others },
    figures: { exchange: async () => undefined },
  } as unknown as ConstructorParameters<typeof Member>[0]);
  const begin = (since: number) =>
    member.begin(
      { query: async () => [{ last, holder: null, token: null }] } as never,
      since,
      'kernel',
      Number.POSITIVE_INFINITY,
    );
  const wrote = (commit: number, payload: string): void => {
    last = commit;
    others = [{ commit, changes: [], afters: [[{ kind: 'after', id: 'a/after' } as never, payload]] }];
  };
  /** Delivers what a write was told, as the kernel does after its commit. */
  const deliver = (told: readonly Committed[]): unknown[] => {
    for (const [, change] of told.flatMap(({ changes }) => changes)) apply({}, change);
    return told.flatMap(({ afters }) => afters.map(([, payload]) => payload));
  };
  return { member, begin, wrote, deliver, events };
}

test('hooks wait for the start of all plugins', async (t) => {
  const { member, begin, wrote, deliver, events } = panel();
  t.deepEqual(deliver(await begin(0)), []);
  wrote(2, 'during the start');
  t.deepEqual(deliver(await begin(1)), []);
  // A write that failed is told again.
  t.deepEqual(deliver(await begin(1)), []);
  t.deepEqual(events, []);
  const timers: NodeJS.Timeout[] = [];
  const { setInterval: real } = globalThis;
  globalThis.setInterval = ((run: () => void, ms: number) => {
    const timer = real(run, ms);
    timers.push(timer);
    return timer;
  }) as typeof setInterval;
  await member.open();
  globalThis.setInterval = real;
  for (const timer of timers) clearInterval(timer);

  // Its transaction fails, so nothing of it is delivered.
  await begin(2);
  wrote(3, 'after it');
  t.deepEqual(deliver(await begin(2)), ['during the start', 'after it']);
  t.deepEqual(events, [
    [
      { hook: 'a/after', payload: 'during the start' },
      { hook: 'a/after', payload: 'after it' },
    ],
  ]);
  t.deepEqual(deliver(await begin(3)), []);
  t.is(events.length, 1);
});
