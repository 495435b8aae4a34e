import test from 'ava';
import { random } from '../../../test/harness/random.js';
import { RowIndex } from '../model/row-index.js';
import type { ClientRow } from '../model/row.js';
import { row } from './row.js';

/** An index beside the Map that it stands for. */
function world(): { index: RowIndex; known: Map<number, ClientRow>; owners: Map<string, ClientRow> } {
  const known = new Map<number, ClientRow>();
  const index = new RowIndex(
    (one) => one.subId,
    (id) => known.get(id),
  );
  return { index, known, owners: new Map() };
}

test('an index answers as a Map does, while clients come, change and go', (t) => {
  const { below } = random(7);
  const { index, known, owners } = world();
  const texts = Array.from({ length: 500 }, (_, n) => `s${n}`);
  for (let step = 0; step < 10_000; step++) {
    const id = 1 + below(700);
    const before = known.get(id);
    if (before && owners.get(before.subId) === before) {
      index.delete(before.subId);
      owners.delete(before.subId);
    }
    known.delete(id);
    if (below(3) > 0) {
      // Of fewer texts than clients: some take the place of others.
      const now = row(id, { subId: `s${below(500)}` });
      known.set(id, now);
      index.set(now);
      owners.set(now.subId, now);
    }
    if (step % 500 === 0)
      t.deepEqual(
        texts.map((text) => index.get(text)?.id),
        texts.map((text) => owners.get(text)?.id),
        `at step ${step}`,
      );
  }
});

test('a text that nobody has finds nobody, and deleting it changes nothing', (t) => {
  const { index, known } = world();
  t.is(index.get(''), undefined);
  const one = row(1, { subId: '' });
  known.set(1, one);
  index.set(one);
  index.delete('other');
  t.is(index.get(''), one);
});
