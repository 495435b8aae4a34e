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

test('a list that the core rejects when it gets it is taken back', async (t) => {
  const previous = { ...candidate('203.0.113.1'), tag: 'p-1' };
  let sub = {
    ...{ id: 1, url: 'https://a.example/', allowPrivate: false, allowInsecure: false, tagPrefix: 'p-' },
    ...{ prepend: true, outbounds: [previous], leftOut: NOTHING_LEFT_OUT, defaultTag: 'p-1', failures: 0 },
    ...{ lastUpdated: 5, triedAt: 5, lastError: '' },
  } as unknown as Sub;
  const applied: string[][] = [];
  const refresher = new Refresher({
    clock: { now: () => 9_000_000 },
    log: { debug: () => undefined, warn: () => undefined },
    engine: {
      preview: async () => ({ problems: [] }),
      reconcileConfig: async () => {
        applied.push(sub.outbounds.map(({ tag }) => tag));
        return applied.length === 1 ? { rejected: true, reason: 'no room' } : { rejected: false };
      },
    },
    outbounds: { tags: async () => new Set(['p-1']) },
    store: {
      find: () => sub,
      list: () => [sub],
      hasRoom: () => true,
      change: async (_: number, change: (before: Sub) => Partial<Sub>) => (sub = { ...sub, ...change(sub) }),
    },
    parts: { templateTags: () => new Set(), standardTag: () => sub.defaultTag },
    fetcher: { fetch: async () => new Uint8Array() },
    lists: { read: async () => ({ candidates: [candidate('203.0.113.2')], leftOut: new LeftOutList() }) },
    news: { changed: () => undefined },
  } as never);
  const error = await t.throwsAsync(refresher.refresh(1, 'admin'), { name: 'ListProblem' });
  t.is(error?.message, 'the core rejected the list: no room');
  t.deepEqual(applied.at(-1), ['p-1'], 'the core has the previous list again');
  t.deepEqual(sub.outbounds, [previous]);
  t.like(sub, { defaultTag: 'p-1', lastUpdated: 5, failures: 1 });
  t.regex(sub.lastError, /no room/);
});
