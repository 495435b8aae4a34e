// A list that the core's test takes, and the core itself does not.
import test from 'ava';
import { LeftOutList, NOTHING_LEFT_OUT } from '../left-out.js';
import { Refresher } from '../refresher.js';
import { candidateOf } from '../stored-outbound.js';
import type { Sub } from '../sub-store.js';

const candidate = (address: string) =>
  candidateOf(address, {
    protocol: 'trojan',
    settings: { servers: [{ address, port: 443, password: 'x' }] },
  });

/** A refresher of one subscription. `rejects`: the core rejects the first list; `during` happens while a list is fetched. */
function worldOf({
  rejects = false,
  during = () => ({}),
}: {
  rejects?: boolean;
  during?: () => object;
} = {}) {
  const previous = { ...candidate('203.0.113.1'), tag: 'p-1' };
  const world = {
    previous,
    applied: [] as string[][],
    sub: {
      ...{ id: 1, url: 'https://a.example/', allowPrivate: false, allowInsecure: false, tagPrefix: 'p-' },
      ...{ prepend: true, outbounds: [previous], leftOut: NOTHING_LEFT_OUT, defaultTag: 'p-1', failures: 0 },
      ...{ lastUpdated: 5, triedAt: 5, lastError: '' },
    } as unknown as Sub,
  };
  const refresher = new Refresher({
    clock: { now: () => 9_000_000 },
    log: { debug: () => undefined, warn: () => undefined },
    engine: {
      preview: async () => ({ problems: [] }),
      reconcileConfig: async () => {
        world.applied.push(world.sub.outbounds.map(({ tag }) => tag));
        const isRejected = rejects && world.applied.length === 1;
        return isRejected ? { rejected: true, reason: 'no room' } : { rejected: false };
      },
    },
    outbounds: { tags: async () => new Set(['p-1']) },
    store: {
      find: () => world.sub,
      list: () => [world.sub],
      hasRoom: () => true,
      change: async (_: number, change: (before: Sub) => Partial<Sub>) =>
        (world.sub = { ...world.sub, ...change(world.sub) }),
    },
    parts: { templateTags: () => new Set(), standardTag: () => world.sub.defaultTag },
    fetcher: {
      fetch: async () => {
        world.sub = { ...world.sub, ...during() };
        return new Uint8Array();
      },
    },
    lists: { read: async () => ({ candidates: [candidate('203.0.113.2')], leftOut: new LeftOutList() }) },
    news: { changed: () => undefined, outboundsChanged: () => undefined },
  } as never);
  return Object.assign(world, { refresher });
}

test('a list that the core rejects when it gets it is taken back', async (t) => {
  const world = worldOf({ rejects: true });
  const error = await t.throwsAsync(world.refresher.refresh(1, 'admin'), { name: 'ListProblem' });
  t.is(error?.message, 'the core rejected the list: no room');
  t.deepEqual(world.applied.at(-1), ['p-1'], 'the core has the previous list again');
  t.deepEqual(world.sub.outbounds, [world.previous]);
  t.like(world.sub, { defaultTag: 'p-1', lastUpdated: 5, failures: 1 });
  t.regex(world.sub.lastError, /no room/);
});

for (const [what, change, message] of [
  ['another URL', { url: 'https://b.example/' }, 'its URL was changed while it was fetched'],
  ['private addresses', { allowPrivate: true }, 'what it permits was changed while it was fetched'],
  ['unchecked certificates', { allowInsecure: true }, 'what it permits was changed while it was fetched'],
] as const)
  test(`a list that was fetched before an admin set ${what} is not put into force`, async (t) => {
    const world = worldOf({ during: () => change });
    await t.throwsAsync(world.refresher.refresh(1, 'schedule'), { name: 'ListProblem', message });
    t.deepEqual(world.sub.outbounds, [world.previous]);
    t.deepEqual(world.applied, []);
  });

test('a list that nothing happened to is put into force', async (t) => {
  const world = worldOf();
  await world.refresher.refresh(1, 'admin');
  t.deepEqual(
    world.sub.outbounds.map(({ name }) => name),
    ['203.0.113.2'],
  );
  t.is(world.applied.length, 1);
});
