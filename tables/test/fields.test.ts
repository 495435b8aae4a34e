// One declaration of a field gives its column, its schema, its statements and its value.
import test from 'ava';
import { bool, text } from '../../schema/shape.js';
import { field, Fields, type FieldTable, type Values } from '../fields.js';
import { column } from '../table.js';

const table = {
  title: field({
    column: column.text(),
    schema: text().max(9),
    initial: '',
    keys: { title_key: (title: string) => title.toLowerCase() },
  }),
  totalGB: field({ column: column.integer({ name: 'total_gb' }), initial: 0 }),
  isOn: field({ column: column.bool(), schema: bool(), initial: true }),
  more: field({ column: column.optionalJson<{ n: number }>(), initial: () => ({ n: 1 }) }),
} satisfies FieldTable;
const fields = new Fields(table);
const values: Values<typeof table> = { title: 'Tea', totalGB: 5, isOn: false, more: null };

test('a new record has the given values, and initial values for the rest', (t) => {
  t.deepEqual(fields.create({ title: 'Tea', isOn: false }), {
    title: 'Tea',
    totalGB: 0,
    isOn: false,
    more: { n: 1 },
  });
  t.is(fields.create({ more: null }).more, null, 'null is a value');
});

test('accepts only fields with a schema from callers', (t) => {
  t.deepEqual(Object.keys(fields.schemas), ['title', 'isOn']);
  t.regex(fields.schemas.title.validate('much too long').error?.message ?? '', /9 characters/);
});

test('rows are written as the database stores them, keys beside their values', (t) => {
  t.deepEqual(fields.kinds, {
    title: 'text',
    title_key: 'text',
    total_gb: 'integer',
    is_on: 'integer',
    more: 'text',
  });
  t.deepEqual(fields.row(values), ['Tea', 'tea', 5, 0, null]);
  t.deepEqual(fields.row({ ...values, more: { n: 2 }, isOn: true }), ['Tea', 'tea', 5, 1, '{"n":2}']);
  t.deepEqual(fields.changes({ title: 'B', isOn: true }), { title: 'B', title_key: 'b', is_on: 1 });
  t.deepEqual(fields.columnsOf('title'), ['title', 'title_key']);
});

test('each value has the type of its column', (t) => {
  const wrong = {
    // @ts-expect-error: a title is a text, and not of any type
    title: 5 satisfies (typeof values)['title'],
    // @ts-expect-error: bytes are a number
    totalGB: '5' satisfies (typeof values)['totalGB'],
  };
  t.is(Object.keys(wrong).length, 2);
});

test('reads the record that was written', (t) => {
  t.is(
    fields.select('t'),
    't.title AS "title", t.total_gb AS "totalGB", t.is_on AS "isOn", t.more AS "more"',
  );
  t.deepEqual(fields.read({ title: 'Tea', totalGB: 5, isOn: 0, more: null }), values);
  t.deepEqual(fields.read({ title: 'Tea', totalGB: 5, isOn: 1, more: '{"n":2}' }).more, { n: 2 });
});
