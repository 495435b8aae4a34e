// What the database has of a certificate, and what this machine has, while other panels change it.
import test from 'ava';
import { selfSigned } from '../../../test/harness/self-signed.js';
import { CertificatePairs, type Pair } from '../certificate-pairs.js';
import { type Certificate, CertificateStore, type Order } from '../certificate-store.js';
import { FollowedCertificates } from '../followed.js';
import { SharedProofs } from '../shared-proofs.js';
import { CertificateUses } from '../uses.js';

const PEM = { cert: 'cert', key: 'key' };
const issuer = {
  alone: (work: () => Promise<void>) => Promise.resolve().then(work),
};
const pairOf = (id: string, more: Partial<Pair> = {}): Pair => ({
  id,
  certificateId: 1,
  panel: 'b',
  since: 0,
  answers: [],
  isIssued: true,
  ...more,
});

/** A panel whose files are those of `order-0`, while the database has another order that cannot be read. */
function following(
  otherAt: string | undefined,
  list = () => [{ id: 1, folder: 'one', names: ['a.example.com'] }],
) {
  const kept: unknown[] = [];
  const problems: string[] = [];
  const stop = new AbortController();
  const followed = new FollowedCertificates({
    signal: stop.signal,
    log: { error: (_: string, { problem }: { problem: string }) => problems.push(problem), info: () => {} },
    store: {
      list,
      keep: async (...all: unknown[]) => void kept.push(all),
    },
    pairs: {
      all: [],
      issued: () => pairOf('order-1'),
      read: async () => undefined,
      otherAt: () => otherAt,
    },
    folders: { current: async () => 'order-0', pairOf: async () => PEM },
    served: { of: () => ({ validFrom: 1 }) },
    issuer,
    uses: { follow: async () => undefined },
  } as never);
  return { followed, kept, problems, stop };
}

test('files do not replace what another panel has renewed this moment, or what only it can open', async (t) => {
  const { followed, kept, problems } = following('b');
  await followed.run();
  t.deepEqual([kept, problems], [[], []]);
});

test('files replace what nobody can open, if it is still that', async (t) => {
  const { followed, kept, problems } = following(undefined);
  await followed.run();
  t.deepEqual([kept, problems], [[[1, 'order-0', PEM, 'order-1']], []]);
});

test('while memory is loaded again, a change of another panel is followed later', async (t) => {
  const { followed, kept, problems } = following(undefined, () => {
    throw new Error('it is loaded again');
  });
  await followed.changed();
  t.deepEqual([kept, problems], [[], ['it is loaded again']]);
});

test('a follower serves its own files where WEIR_TLS_CERT names them', async (t) => {
  for (const certificate of ['/own/cert.pem', '']) {
    const linked: string[] = [];
    const uses = new CertificateUses({
      dataDirectory: '/data',
      contributions: () => [],
      folders: {
        panel: async () => '',
        usePanel: async (folder: string) => void linked.push(folder),
        paths: () => ({ certificate: '', key: '' }),
      },
      served: { of: () => ({}), isUrgent: () => false },
      inbounds: { list: () => [] },
      listener: { certificateFiles: { certificate, key: '' }, certificateSource: 'variable' },
      allSettings: { read: () => ({ webCertFile: '' }) },
      panels: { name: 'b', leads: false },
    } as never);
    const used = { id: 1, folder: 'one', uses: { panel: true, subscription: false, inbounds: [] } };
    await uses.follow(used as unknown as Certificate, undefined, false);
    t.deepEqual(linked, certificate === '' ? ['one'] : []);
  }
});

test('a panel that stops follows nothing more', async (t) => {
  const { followed, kept, stop } = following(undefined);
  stop.abort();
  await followed.run();
  t.deepEqual(kept, []);
});

test('the panel leaves a removed certificate before its files go', async (t) => {
  const done: string[] = [];
  let list = [{ id: 1, folder: 'one', names: ['a.example.com'] }];
  const followed = new FollowedCertificates({
    signal: new AbortController().signal,
    log: { error: () => undefined, warn: () => undefined },
    store: { list: () => list },
    pairs: { all: [], issued: () => undefined },
    folders: {
      current: async () => '',
      panel: async () => 'one',
      leavePanel: async () => void done.push('left'),
      remove: async () => void done.push('removed'),
    },
    served: { of: () => undefined, forget: () => undefined },
    issuer,
    uses: { follow: async () => undefined },
  } as never);
  await followed.run();
  list = [];
  await followed.run();
  t.deepEqual(done, ['left', 'removed']);
});

test('a chain in the database that is not for its key is not written', async (t) => {
  const written: string[] = [];
  const problems: string[] = [];
  const followed = new FollowedCertificates({
    signal: new AbortController().signal,
    log: { error: (_: string, { problem }: { problem: string }) => problems.push(problem) },
    store: { list: () => [{ id: 1, folder: 'one', names: ['a.example.com'] }], openOrder: () => undefined },
    pairs: {
      all: [],
      issued: () => pairOf('order-1'),
      read: async () => ({ cert: selfSigned('a.example.com').cert, key: selfSigned('a.example.com').key }),
    },
    folders: { current: async () => '', begin: async () => void written.push('key') },
    served: { of: () => undefined },
    issuer,
    uses: { follow: async () => undefined },
  } as never);
  await followed.run();
  t.deepEqual(written, []);
  t.regex(String(problems[0]), /another key/);
});

test('an order belongs to its panel while that lives, and as long as others may not know it yet', (t) => {
  const clock = { time: 100_000, now: () => clock.time };
  const others: string[] = [];
  const pair = pairOf('order-1', { isIssued: false, since: 90_000 });
  const pairs = new CertificatePairs({
    db: { projection: () => ({ state: { pairs: [pair] } }) },
    clock,
    tables: {},
    panels: { name: 'a', others },
  } as never);
  t.is(pairs.otherAt('order-1'), 'b', 'it may have just started');
  clock.time = 200_000;
  t.is(pairs.otherAt('order-1'), undefined);
  others.push('b');
  t.is(pairs.otherAt('order-1'), 'b');
  t.is(pairs.otherAt('order-2'), undefined);
});

test('files of a removed certificate go, also where it could not be put in use', async (t) => {
  const removed: string[] = [];
  let list = [{ id: 1, folder: 'one', names: ['a.example.com'] }];
  const followed = new FollowedCertificates({
    signal: new AbortController().signal,
    log: { error: () => undefined },
    store: { list: () => list },
    pairs: { all: [], issued: () => undefined },
    folders: {
      current: async () => '',
      panel: async () => '',
      remove: async (folder: string) => void removed.push(folder),
    },
    served: { of: () => undefined, forget: () => undefined },
    issuer,
    uses: { follow: () => Promise.reject(new Error('another path')) },
  } as never);
  await followed.run();
  // The database may give its id to another one.
  list = [{ id: 1, folder: 'two', names: ['b.example.com'] }];
  await followed.run();
  list = [];
  await followed.run();
  t.deepEqual(removed, ['one', 'two']);
});

/** A store whose writes find what other panels have written before them. */
function storeWith({ open, issued, otherAt }: { open?: Order; issued?: Pair; otherAt?: string }) {
  const written: string[] = [];
  const pairs = {
    issued: () => issued,
    otherAt: () => otherAt,
    issue: async (_tx: unknown, _id: number, order: string) => void written.push(`issue ${order}`),
    drop: async (_tx: unknown, order: string) => void written.push(`drop ${order}`),
  };
  const state = { certificates: [{ id: 1 } as Certificate], open: new Map(open && [[1, open]]) };
  const rows = { update: async () => void written.push('update') };
  const store = new CertificateStore({
    db: {
      projection: () => ({ state }),
      write: (work: (tx: object) => unknown) => work({ apply: () => written.push('apply') }),
    },
    tables: { certificates: rows, orders: rows },
    clock: { now: () => 5 },
    pairs,
  } as never);
  return { store, written };
}
const orderOf = (id: number): Order => ({ id, certificateId: 1, folder: `order-${id}`, url: '' }) as Order;

test('what is kept does not replace a renewal that came meanwhile', async (t) => {
  const late = storeWith({ issued: pairOf('order-2') });
  await late.store.keep(1, 'order-0', PEM, 'order-1');
  t.deepEqual(late.written, []);
  const inTime = storeWith({ issued: pairOf('order-1') });
  await inTime.store.keep(1, 'order-0', PEM, 'order-1');
  t.deepEqual(inTime.written, ['issue order-0']);
});

test('an order that another panel has ended is not opened again', async (t) => {
  for (const open of [undefined, orderOf(2)]) {
    const { store, written } = storeWith({ ...(open && { open }) });
    await t.throwsAsync(store.confirm(orderOf(1), 'url'), { message: /another panel has ended/ });
    t.deepEqual(written, []);
  }
});

test('an order that another panel has taken does not fail here', async (t) => {
  const { store, written } = storeWith({ open: orderOf(1), otherAt: 'a' });
  await store.end(orderOf(1), 'failed', 'why', () => ({}));
  t.deepEqual(written, []);
  await store.end(orderOf(1), 'issued', '', () => ({}), PEM);
  t.is(written[0], 'issue order-1');
});

test('a panel answers with what was told last', (t) => {
  const answerOf = (token: string) => ({
    challenge: 'http-01' as const,
    name: 'a.example.com',
    token,
    keyAuthorization: token,
  });
  const orders: Pair[] = [];
  const open = new Set<string>();
  const proofs = new SharedProofs({
    signal: new AbortController().signal,
    log: { warn: () => undefined },
    pairs: { ofOthers: () => orders },
    answers: {
      put: ([{ token }]: [{ token: string }]) => {
        open.add(token);
        return () => open.delete(token);
      },
      during: (_c: unknown, _a: unknown, _s: unknown, work: () => Promise<unknown>) => work(),
    },
  } as never);
  orders[0] = pairOf('order-1', { isIssued: false, answers: [answerOf('one')] });
  proofs.follow();
  orders[0] = { ...orders[0], answers: [answerOf('two')] };
  proofs.follow();
  t.true(open.has('two'));
});
