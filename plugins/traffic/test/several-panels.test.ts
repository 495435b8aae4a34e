// One of several panels: what it counts of its own core, and whom it looks at when it leads.
import test from 'ava';
import type { Projection } from '../../../kernel/index.js';
import { kernelErrors } from '../../../kernel/index.js';
import { Baselines } from '../baselines.js';
import { ClientLimits } from '../client-limits.js';
import { Poll } from '../poll.js';
import type { SourceReading } from '../source-reader.js';
import { StreamBaselines, type StreamCounter } from '../stream-baselines.js';

const INBOUND = 1;

/** The readings of a panel `a`, and of the panel `b` beside it. */
function readings(...clientIds: number[]) {
  const known = new Set(clientIds);
  let apply: (change: object) => Promise<void> = async () => undefined;
  const streams = new StreamBaselines({
    db: {
      projection: (source: { apply(state: object, change: unknown): Promise<void> }) => {
        const state = new Map();
        apply = (change) => source.apply(state, change);
        return { state } as unknown as Projection<never, never>;
      },
    } as never,
    tables: {} as never,
    clients: { byId: (id: number) => (known.has(id) ? ({ id } as never) : undefined) },
    ownCore: { stream: 'core/a' },
  });
  const reading = (epoch: string, clientId: number, down: number): SourceReading => ({
    stream: 'core/a',
    epoch,
    users: [{ clientId, inboundId: INBOUND, up: 0, down }],
  });
  return {
    streams,
    known,
    others: (counter: StreamCounter) => apply({ read: [counter] }),
    deleted: (clientId: number) => apply({ deleted: [clientId] }),
    /** Bytes that a poll counts of a client of the own core. */
    poll: async (epoch: string, clientId: number, down: number): Promise<number> => {
      const { counters, usage } = await streams.compare([reading(epoch, clientId, down)]);
      await apply({ read: counters });
      return usage.reduce((sum, one) => sum + one.down, 0);
    },
  };
}
const counterOf = (stream: string, clientId: number, down: number): StreamCounter => ({
  ...{ stream, clientId, inboundId: INBOUND, epoch: 'x', up: 0, down },
});

test('a client that was deleted before this panel started comes back without its bytes of before', async (t) => {
  const { known, poll } = readings();
  t.is(await poll('one', 7, 5_000), 0, 'nobody has this id');
  t.is(await poll('one', 7, 5_200), 0, 'a connection that is still open');
  // An undo in another panel.
  known.add(7);
  t.is(await poll('one', 7, 5_200), 0);
  t.is(await poll('one', 7, 5_300), 100);
  // Another core has counters of its own.
  t.is(await poll('two', 7, 400), 400);
});

test('what a deleted client had in a core before the present one says nothing', async (t) => {
  const { known, poll } = readings();
  await poll('one', 7, 5_000);
  t.is(await poll('two', 8, 1), 0);
  known.add(7);
  t.is(await poll('two', 7, 6_000), 6_000);
});

test('a client that is deleted while this panel runs is counted on from where it was', async (t) => {
  const { known, poll, deleted } = readings(7);
  t.is(await poll('one', 7, 5_000), 5_000);
  known.delete(7);
  await deleted(7);
  t.is(await poll('one', 7, 5_500), 0);
  known.add(7);
  t.is(await poll('one', 7, 5_600), 100);
  // Back before the next poll.
  known.delete(7);
  await deleted(7);
  known.add(7);
  t.is(await poll('one', 7, 5_700), 100);
});

test('whoever any panel has counted is named once', async (t) => {
  const { streams, others, poll } = readings(7, 8);
  await others(counterOf('core/b', 8, 10));
  await others(counterOf('core/b', 8, 20));
  await poll('one', 7, 100);
  t.deepEqual(
    streams.takeMoved().map(({ clientId, up, down }) => [clientId, up + down]),
    [
      [8, 0],
      [7, 0],
    ],
  );
  t.deepEqual(streams.takeMoved(), []);
  await others(counterOf('core/b', 9, 10));
  t.deepEqual(streams.takeMoved(), [], 'of a client that is gone there is nothing to look at');
});

test('a panel that becomes one of several counts its core on from where it was, and another core from zero', async (t) => {
  const { streams } = readings(7);
  const alone = (clientId: number) => ({ epoch: 'one', up: 0, down: clientId === 7 ? 900 : 0 });
  const counted = async (epoch: string): Promise<number> => {
    const core = {
      stream: 'core/a',
      epoch,
      users: [{ clientId: 7, inboundId: INBOUND, up: 0, down: 1_000 }],
    };
    const { usage } = await streams.compare([core], alone);
    return usage.reduce((sum, one) => sum + one.down, 0);
  };
  t.is(await counted('one'), 100);
  t.is(await counted('two'), 1_000);
  const program = {
    stream: 'sidecars/x',
    epoch: 'one',
    users: [{ clientId: 7, inboundId: INBOUND, up: 0, down: 5 }],
  };
  const { usage } = await streams.compare([program], alone);
  t.deepEqual(
    usage,
    [{ clientId: 7, inboundId: INBOUND, up: 0, down: 5 }],
    'only the core was counted before',
  );
});

test('a panel that is alone again finds the reading of its core, and of no other one', async (t) => {
  const { streams, others } = readings(7);
  t.is(streams.ofCore('x'), undefined);
  await others({ ...counterOf('core/b', 7, 70), epoch: 'of b' });
  await others({ ...counterOf('core/a', 7, 50), epoch: 'of a' });
  await others({ ...counterOf('sidecars/x', 7, 30), epoch: 'of a program' });
  const found = (epoch: string) => streams.ofCore(epoch)?.(7, INBOUND)?.down;
  t.is(found('of a'), 50);
  t.is(found('of b'), 70);
  t.is(found('of a program'), undefined);
  t.is(found('a new core'), undefined);
  t.is(streams.ofCore('of a')?.(8, INBOUND), undefined);
});

test('a panel that was alone, one of several and alone again counts the same core on from its last reading', async (t) => {
  const { streams, others } = readings(7);
  const projection = { state: new Map() };
  const baselines = new Baselines({
    db: { projection: () => projection } as never,
    tables: {} as never,
    clients: { byId: () => ({}) as never },
    journal: {} as never,
  });
  /** A poll of the panel alone, and what it stores. */
  const poll = async (down: number): Promise<number> => {
    const users = [{ clientId: 7, inboundId: INBOUND, up: 0, down }];
    const found = await baselines.compare({ epoch: 'one', users }, () => true, streams.ofCore('one'));
    for (const counter of streams.outdatedBy(found.readings)) await others(counter);
    for (const { clientId, inboundId, ...reading } of found.readings)
      projection.state.set(clientId, new Map([[inboundId, reading]]));
    return found.usage.reduce((sum, one) => sum + one.down, 0);
  };
  const severally = async (down: number): Promise<number> => {
    const core = {
      stream: 'core/a',
      epoch: 'one',
      users: [{ clientId: 7, inboundId: INBOUND, up: 0, down }],
    };
    const { counters, usage } = await streams.compare([core], baselines.reading);
    for (const counter of counters) await others(counter);
    return usage.reduce((sum, one) => sum + one.down, 0);
  };
  t.is(await poll(1_000), 1_000);
  t.is(await severally(1_500), 500);
  t.is(await poll(1_500), 0, 'the bytes of several are counted');
  t.is(await poll(1_700), 200);
  t.is(await poll(1_800), 100);
  t.is(await severally(1_900), 100, 'and the other way');
  t.is(await severally(1_950), 50);
  t.is(await poll(2_000), 50);
});

test('a limit is looked at again inside the write: a client that was given more meanwhile goes on', async (t) => {
  const rows = new Map(
    [1, 2].map((id) => [
      id,
      { id, enable: true, totalGB: 10, up: 0, down: 10, expiryTime: 0, inboundIds: [], email: '' },
    ]),
  );
  const depleted: number[] = [];
  const begun: number[] = [];
  const limits = new ClientLimits({
    db: { write: (work: (tx: object) => Promise<unknown>) => work({ emit: () => undefined }) },
    hooks: { refine: (_: unknown, found: unknown) => found },
    log: { info: () => undefined },
    self: {},
    engine: { reconcileUsers: async () => undefined },
    clients: {
      byId: (id: number) => rows.get(id),
      expired: async () => [],
      atLimit: async () => new Set([2]),
      startExpiry: async (_: object, ids: readonly number[]) => void begun.push(...ids),
      deplete: async (_: object, found: readonly { id: number }[]) =>
        void depleted.push(...found.map(({ id }) => id)),
    },
    baselines: { clientIds: () => [] },
    streamBaselines: { clientIds: () => [2] },
  } as unknown as ConstructorParameters<typeof ClientLimits>[0]);
  const used = (clientId: number) => ({ clientId, inboundId: INBOUND, up: 0, down: 0 });
  await limits.enforce([used(1), used(2)], 5, false);
  t.deepEqual(depleted.splice(0), [2]);
  await limits.enforce([], 5, false);
  t.deepEqual(depleted, [], 'who moved nothing is not looked at');
  await limits.enforce([], 5, true);
  t.deepEqual(depleted.splice(0), [2], 'what any core has counted');
  rows.set(3, { ...rows.get(1), id: 3, down: 1, expiryTime: -1000 } as never);
  await limits.enforce([used(3)], 5, false);
  t.deepEqual([begun, depleted], [[3], []], 'its time begins with its first bytes');
});

/** A panel with a core of its own, whose writes fail when the test says so. */
function polling() {
  let moved: { clientId: number; inboundId: number; up: number; down: number }[] = [];
  let failure: unknown;
  let leads = true;
  const enforced: { clients: number[]; all: boolean }[] = [];
  /** clients of the event `countedInPanels` */
  const told: number[][] = [];
  const nothing = async () => undefined;
  const counter = { stream: 'core/a', clientId: 1, inboundId: INBOUND, epoch: 'x', up: 0, down: 5 };
  const poll = new Poll({
    db: {
      write: async () => {
        if (failure) throw failure;
      },
    },
    hooks: {
      refine: (_: unknown, usage: unknown) => usage,
      emit: ({ id }: { id: string }, payload: { clientIds: number[] }) =>
        void (id === 'traffic/countedInPanels' && told.push(payload.clientIds)),
    },
    log: { warn: () => undefined },
    clock: { now: () => 0 },
    engine: {
      counters: async () => ({ epoch: 'x', users: [] }),
      status: () => ({ state: 'running' }),
    },
    baselines: {
      hasUnsaved: false,
      reading: () => undefined,
      notSaved: () => undefined,
      saved: () => undefined,
    },
    streamBaselines: {
      takeMoved: () => moved.splice(0),
      compare: async () => ({
        counters: [counter],
        usage: [{ clientId: 1, inboundId: INBOUND, up: 0, down: 5 }],
        excessive: [],
      }),
      notSaved: () => undefined,
      saved: () => undefined,
    },
    sources: { read: async () => [] },
    journal: { moveOn: nothing },
    online: { moved: () => undefined, clear: () => undefined },
    ownCore: {
      stream: 'core/a',
      get leads() {
        return leads;
      },
      reading: () => ({ stream: 'core/a', epoch: 'x', users: [] }),
    },
    clientLimits: {
      enforce: async (usage: readonly { clientId: number }[], _: number, all: boolean) =>
        void enforced.push({ clients: usage.map(({ clientId }) => clientId), all }),
    },
    watch: { resetDue: nothing, enforce: nothing },
    clientWatch: { run: nothing },
    limitsInMemory: { apply: nothing, end: nothing },
  } as unknown as ConstructorParameters<typeof Poll>[0]);
  return {
    enforced,
    told,
    /** Another panel counts these, and this one polls. */
    poll: async (...clientIds: number[]): Promise<void> => {
      moved = clientIds.map((clientId) => ({ clientId, inboundId: INBOUND, up: 0, down: 0 }));
      await poll.run();
    },
    fails: (error: unknown) => void (failure = error),
    leads: (is: boolean) => void (leads = is),
  };
}

test('the leader looks at whom other panels have counted, also after a write that failed', async (t) => {
  const { enforced, poll, fails } = polling();
  await poll();
  t.deepEqual(enforced.pop(), { clients: [1], all: true }, 'the first poll looks at all');
  await poll(2);
  t.deepEqual(enforced.pop(), { clients: [1, 2], all: false });
  fails(kernelErrors.STORAGE());
  await poll(3);
  t.deepEqual(enforced, []);
  fails(undefined);
  await poll();
  t.deepEqual(enforced.pop(), { clients: [1], all: true }, 'the client 3 is not forgotten');
  await poll();
  t.deepEqual(enforced.pop(), { clients: [1], all: false });
});

test('a panel that follows applies no limits, and looks at all when it leads', async (t) => {
  const { enforced, poll, leads, told } = polling();
  leads(false);
  await poll(2);
  t.deepEqual(enforced, []);
  leads(true);
  await poll();
  t.deepEqual(enforced.pop(), { clients: [1], all: true });
  // A lease that was not renewed in time, and that nobody took meanwhile.
  leads(false);
  await poll(4);
  leads(true);
  await poll();
  t.deepEqual(enforced.pop(), { clients: [1], all: true });
  t.deepEqual(told, []);
  await poll(2, 3, 2);
  t.deepEqual(told, [[2, 3]], 'other plugins of the leader learn of those whom another core serves');
});

test('a write that another panel was a moment ahead of is repeated, and not without end', async (t) => {
  const { enforced, poll, fails } = polling();
  await poll();
  enforced.pop();
  fails(kernelErrors.DATABASE_BUSY());
  const polled = poll(2);
  setTimeout(() => fails(undefined), 80);
  await polled;
  t.deepEqual(enforced.pop(), { clients: [1, 2], all: false }, 'in the same poll');
  fails(kernelErrors.DATABASE_BUSY());
  await poll();
  t.deepEqual(enforced, []);
});
