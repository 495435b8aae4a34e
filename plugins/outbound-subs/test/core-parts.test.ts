// What lists add to the config of the core.
import test from 'ava';
import { CoreParts } from '../core-parts.js';
import { candidateOf, type StoredOutbound } from '../stored-outbound.js';
import type { Sub } from '../sub-store.js';

const outbound = (tag: string): StoredOutbound => ({
  ...candidateOf(tag, { protocol: 'trojan', settings: { servers: [{ address: tag, port: 1 }] } }),
  tag,
});
const sub = (id: number, tags: readonly string[], more: Partial<Sub> = {}): Sub =>
  ({ id, enabled: true, prepend: false, defaultTag: '', outbounds: tags.map(outbound), ...more }) as Sub;
const partsOf = (list: readonly Sub[], template: readonly string[] = []) =>
  new CoreParts({
    store: { list: () => list } as never,
    template: { read: () => ({ outbounds: template.map((tag) => ({ tag })) }) } as never,
  });
const tagsOf = (parts: readonly unknown[]): unknown[] =>
  (parts as { outbound: { tag: unknown } }[]).map((part) => part.outbound.tag);

test('the default outbound is that of the first enabled list with prepend, unless the template has its tag', (t) => {
  const lists = [
    sub(1, ['a'], { defaultTag: 'a' }),
    sub(2, ['b'], { prepend: true, defaultTag: 'b', enabled: false }),
    sub(3, ['c', 'd'], { prepend: true, defaultTag: 'd' }),
    sub(4, ['e'], { prepend: true, defaultTag: 'e' }),
  ];
  const parts = partsOf(lists);
  t.deepEqual(parts.standard(), [{ outbound: { tag: 'd', ...outbound('d').config }, isDefault: true }]);
  t.deepEqual(tagsOf(parts.others()), ['c', 'e', 'a'], 'those with prepend come first');
  t.is(parts.standardTag(), 'd');
  const taken = partsOf(lists, ['d']);
  t.deepEqual(taken.standard(), []);
  t.is(taken.standardTag(), undefined);
  t.true(taken.templateTags().has('direct') && taken.templateTags().has('d'));
});

test('all lists together have a thousand outbounds in the core, the first ones in their order', (t) => {
  const many = (id: number, count: number, more?: Partial<Sub>) =>
    sub(
      id,
      Array.from({ length: count }, (_, n) => `${id}-${n}`),
      more,
    );
  const lists = [many(1, 600), many(2, 300, { prepend: true, defaultTag: '2-7' }), many(3, 200)];
  const parts = partsOf(lists);
  t.is(parts.standard().length + parts.others().length, 1000);
  t.deepEqual(
    lists.map((one) => parts.over(one)),
    [0, 0, 100],
  );
});
