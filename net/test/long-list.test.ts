// Lists that are written while the reply is sent: the same JSON, at the speed of the reader.
import { text } from 'node:stream/consumers';
import test from 'ava';
import { jsonOf, LongList } from '../long-list.js';

const written = async (value: unknown): Promise<string> => {
  const json = jsonOf(value);
  return typeof json === 'string' ? json : text(json());
};
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const same = (n: number): number => n;

test('writes the JSON that an array would have', async (t) => {
  for (const count of [0, 1, 63, 64, 65, 1000]) {
    const plain = {
      before: 'x',
      list: numbers(count),
      rows: [{ own: numbers(3) }, { own: [] }],
      after: null,
    };
    const long = {
      ...plain,
      list: LongList.of(numbers(count), same),
      rows: [{ own: LongList.of(numbers(3), same) }, { own: LongList.of([], same) }],
    };
    t.is(await written(long), JSON.stringify(plain));
  }
});

test('a value without a long list is its text', (t) => {
  t.is(jsonOf({ list: [1] }), '{"list":[1]}');
});

test('portions may be empty, awaited, and hold values that JSON has not', async (t) => {
  const list = new LongList<unknown>(async function* () {
    yield [];
    yield [undefined, { gone: undefined, date: new Date(0) }];
    yield [];
    yield ['last'];
  });
  t.is(await written([list]), '[[null,{"date":"1970-01-01T00:00:00.000Z"},"last"]]');
  t.throws(() => JSON.stringify(list), { message: /only a reply/ });
});

test('a list is read again for each reply, and whole outside of one', async (t) => {
  const list = LongList.of(numbers(200), same);
  t.is(await written(list), await written(list));
  t.is(JSON.stringify({ list }), JSON.stringify({ list: numbers(200) }));
});

test('reads no further than the reader', async (t) => {
  let read = 0;
  const json = jsonOf(LongList.of(numbers(100_000), (n) => (read++, n)));
  if (typeof json === 'string') return t.fail('the list was written at once');
  const pieces = json()[Symbol.asyncIterator]();
  for (let i = 0; i < 5; i++) await pieces.next();
  t.true(read > 0 && read <= 5 * 64, `${read} items were read for five pieces`);
  await pieces.return?.();
});

test('a text that looks like the place of a list stays a text', async (t) => {
  const value = {
    list: LongList.of([1], same),
    text: 'list 0',
    more: '"list 00000000-0000-0000-0000-000000000000 0"',
  };
  t.is(await written(value), JSON.stringify({ ...value, list: [1] }));
});

test('portions of any size are pieces of one list', async (t) => {
  const list = new LongList<number>(() => [numbers(200), [], numbers(65), numbers(1)]);
  const plain = [...numbers(200), ...numbers(65), 0];
  t.is(await written({ list, twice: [list, list] }), JSON.stringify({ list: plain, twice: [plain, plain] }));
});

test('a fast reader leaves others their turn', async (t) => {
  let turns = 0;
  const count = (): void => void (turns++, (timer = setImmediate(count)));
  let timer = setImmediate(count);
  await written(LongList.of(numbers(400_000), (n) => ({ n, text: 'some text' })));
  clearImmediate(timer);
  t.true(turns > 1, `${turns} turns of the event loop`);
});

test('a value that cannot be written leaves nothing behind', async (t) => {
  const broken = {
    list: LongList.of([1, 2], same),
    fails: {
      toJSON: () => {
        throw new Error('it cannot be written');
      },
    },
  };
  t.throws(() => jsonOf(broken), { message: 'it cannot be written' });
  t.is(JSON.stringify(LongList.of([1, 2], same)), '[1,2]');
  t.is(await written([LongList.of([3], same)]), '[[3]]');
});

test('a list that fails in the middle fails the reply', async (t) => {
  const list = new LongList<number>(function* () {
    yield [1, 2];
    throw new Error('the row is gone');
  });
  await t.throwsAsync(written({ list }), { message: 'the row is gone' });
});

test.serial('of many lists that begin together, one begins in each round of the event loop', async (t) => {
  let round = 0;
  let next = setImmediate(function again() {
    round++;
    next = setImmediate(again);
  });
  const began: number[] = [];
  const write = async () => {
    const json = jsonOf(
      new LongList(function* () {
        began.push(round);
        yield [1];
      }),
    );
    return typeof json === 'string' ? json : text(json());
  };
  t.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, write))), new Set(['[1]']));
  clearImmediate(next);
  t.is(new Set(began).size, 20, String(began));
});
