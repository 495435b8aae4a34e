// A list in JSON is read item by item, wherever its text is cut.
import test from 'ava';
import { itemsOf } from '../import/items.js';

test('quotes, backslashes, brackets and commas in texts end no item', async (t) => {
  const list = [{ a: 'say "no", ]}' }, 'back\\', '\\"', [1, { b: [] }], 5, null, '"'];
  const text = ` ${JSON.stringify(list, null, 1)} `;
  for (let at = 0; at <= text.length; at++) {
    const pieces = async function* (): AsyncGenerator<string> {
      yield text.slice(0, at);
      yield text.slice(at);
    };
    const items: unknown[] = [];
    for await (const some of itemsOf(pieces())) items.push(...some);
    if (JSON.stringify(items) !== JSON.stringify(list)) t.deepEqual(items, list, `cut at ${at}`);
  }
  t.pass();
});
