// Taps that change what was sent before it is checked: one item for each, and each as its owner can use it.
import test from 'ava';
import type { TapFunction } from '../hooks/kinds.js';
import { int, type Prepare, prepare, shape, tap } from '../index.js';
import { hookFixtures } from './hook-fixtures.js';

interface Crate {
  readonly weight: number;
}
const prepareLoading: Prepare<Crate, string> = prepare('crane/prepareLoading', shape({ weight: int() }));

const WRONG: Readonly<Record<string, readonly [TapFunction<typeof prepareLoading>, RegExp]>> = {
  'gives fewer items': [(items) => items.slice(1), /it must return a list of 2 items, one for each/],
  'gives more items': [(items) => [...items, { weight: 1 }], /it must return a list of 2 items/],
  'gives no list': [() => ({ length: 2 }) as never, /it must return a list of 2 items/],
  'gives an item of another shape': [
    ([first]) => [first as Crate, { weight: 'much' } as never],
    /item 2 of 2 does not fit: .*weight/,
  ],
  'gives an item that its owner does not take': [
    ([first]) => [first as Crate, { weight: 1000 }],
    /item 2 of 2 does not fit: too heavy/,
  ],
};
for (const [what, [clumsy, fault]] of Object.entries(WRONG))
  test(`the items of a tap that ${what} are ignored, and it is named`, async (t) => {
    const { registry, plugin, faults } = hookFixtures();
    registry.declare('crane', [prepareLoading]);
    registry.add(plugin('clumsy'), tap(prepareLoading, clumsy));
    registry.add(
      plugin('next'),
      tap(prepareLoading, (items) => items.map(({ weight }) => ({ weight: weight + 1 }))),
    );
    const loaded = await registry.prepare(
      prepareLoading,
      [{ weight: 5 }, { weight: 6 }],
      'Argo',
      ({ weight }) => (weight > 100 ? 'too heavy' : undefined),
    );
    t.deepEqual(loaded, [{ weight: 6 }, { weight: 7 }]);
    t.is(faults().length, 1);
    t.is(faults()[0]?.name, 'clumsy');
    t.regex(faults()[0]?.message ?? '', fault);
  });
