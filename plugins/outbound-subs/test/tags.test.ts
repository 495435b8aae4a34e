// Tags over many lists, and when lists are fetched again.
import test from 'ava';
import { waitOf } from '../schedule.js';
import { candidateOf, type StoredOutbound } from '../stored-outbound.js';
import { slugOf, withPrefix, withTags } from '../tags.js';

const server = (name: string, address: string, more: object = {}) =>
  candidateOf(name, {
    protocol: 'trojan',
    settings: { servers: [{ address, port: 443, password: 'x' }] },
    ...more,
  });
const given = (
  list: readonly ReturnType<typeof server>[],
  previous: readonly StoredOutbound[] = [],
  more: { taken?: readonly string[]; pinned?: string; prefix?: string } = {},
) => {
  const { taken = [], pinned, prefix = 'p-' } = more;
  return withTags(list, { prefix, previous, taken: new Set(taken), pinned });
};
const tagsOf = (list: readonly StoredOutbound[]): string[] => list.map(({ tag }) => tag);

test('tags are the prefix and the name, unique, and never those of others', (t) => {
  const list = [server('DE 🇩🇪 1', 'a'), server('DE 🇩🇪 1', 'b'), server('', 'c'), server('taken', 'd')];
  t.deepEqual(tagsOf(given(list, [], { taken: ['p-taken'] })), ['p-DE-1', 'p-DE-1-2', 'p-3', 'p-taken-2']);
  t.deepEqual(tagsOf(given([server('ect', 'a'), server('ir.x', 'b')], [], { prefix: 'dir' })), [
    'direct-2',
    'dirir.x',
  ]);
  t.deepEqual(tagsOf(given([server('r.api', 'a')], [], { prefix: 'Wei' })), ['Wei-r.api']);
  t.is(slugOf('-- a/b\\c\u202ed --'), 'a-b-c-d');
  t.is([...slugOf('x'.repeat(500))].length, 64);
});

test('the same outbound has its tag again, then the same server, then the same place', (t) => {
  const before = given([server('A', 'a'), server('B', 'b'), server('C', 'c')]);
  t.deepEqual(tagsOf(given([server('new', 'n'), ...before.map((one) => ({ ...one, name: 'x' }))], before)), [
    'p-new',
    'p-A',
    'p-B',
    'p-C',
  ]);
  const moved = [server('renamed', 'c', { mux: { enabled: true } }), server('A', 'a')];
  t.deepEqual(tagsOf(given(moved, before)), ['p-C', 'p-A'], 'another way to the same server');
  t.deepEqual(tagsOf(given([server('Z', 'z'), server('B', 'b')], before)), ['p-A', 'p-B'], 'the same place');
  t.deepEqual(tagsOf(given([server('Z', 'z'), server('B', 'b')], before, { pinned: 'p-A' })), ['p-Z', 'p-B']);
  t.deepEqual(tagsOf(given([server('A', 'z')], before, { pinned: 'p-A' })), ['p-A-2']);
  const twins = given([server('A', 'a'), server('A', 'a', { mux: {} })]);
  t.deepEqual(tagsOf(given([...twins].reverse(), twins)), ['p-A-2', 'p-A']);
  t.deepEqual(
    tagsOf(given([server('A', 'a')], before, { taken: ['p-A'] })),
    ['p-A-2'],
    'the template took it',
  );
});

test('another prefix changes the tags, but to none that somebody has', (t) => {
  const before = given([server('A', 'a'), server('B', 'b'), server('ect', 'c'), server('r.d', 'd')]);
  const next = (to: string, ...taken: string[]) =>
    tagsOf(withPrefix(before, { from: 'p-', to, taken: new Set(taken) }));
  t.deepEqual(next('q-', 'q-B'), ['q-A', 'p-B', 'q-ect', 'q-r.d']);
  t.deepEqual(next('dir'), ['dirA', 'dirB', 'p-ect', 'dirr.d']);
  t.deepEqual(next('wei'), ['weiA', 'weiB', 'weiect', 'p-r.d']);
});

test('ten thousand entries of one name are told apart quickly', (t) => {
  const list = Array.from({ length: 10_000 }, (_, n) => server('same', `s${n}`));
  const began = performance.now();
  const tags = tagsOf(given(list));
  t.is(new Set(tags).size, 10_000);
  t.true(performance.now() - began < 2000);
});

test('a server that fails is asked later and later, up to six hours', (t) => {
  const waits = [0, 1, 2, 6, 60].map((failures) => waitOf({ updateInterval: 600, failures }) / 1000);
  t.deepEqual(waits, [600, 1200, 2400, 21_600, 21_600]);
  t.is(waitOf({ updateInterval: 86_400, failures: 3 }), 86_400_000, 'never sooner than usual');
});
