// What the compiler must refuse. Each `@ts-expect-error` fails the build when its line is accepted.
import test from 'ava';
import {
  bare,
  bool,
  choose,
  column,
  definePlugin,
  draft,
  event,
  contribute,
  extensionPoint,
  filter,
  guard,
  int,
  list,
  message,
  nullable,
  num,
  oneOf,
  optional,
  payload,
  provide,
  route,
  type Row,
  shape,
  singleton,
  type Static,
  table,
  type TableModel,
  tap,
  text,
  token,
  withDefault,
} from '../index.js';

interface Printer {
  print(line: string): void;
}
const Printing = token<Printer>('printer', 'Printing');
const Labels = extensionPoint<{ readonly label: string }>('shelf', 'Labels');
const saved = event<{ readonly ids: readonly number[] }>('shelf/saved');
const price = filter<number, { readonly at: number }>('shelf/price', num());
const pick = choose<string, number>('shelf/pick', num());
const compose = draft<{ readonly line: string }, undefined>('shelf/composePage', shape({ line: text() }));
const before = guard<{ readonly id: number }>('shelf/beforeSave');

class Report {
  readonly printer: Printer;
  constructor({ printer }: { printer: Printer }) {
    this.printer = printer;
  }
}
const identity = { name: 'shelf', version: '1.0.0', api: 1, about: 'x' };
const Person = shape({
  name: text(),
  age: optional(int()),
  kind: oneOf('a', 'b'),
  tags: list(text()),
  nick: nullable(text()),
  loud: withDefault(bool(), false),
});
type Person = Static<typeof Person>;
const person: Person = { name: 'ada', kind: 'a', tags: [], nick: null, loud: true };

test('a class gets what its plugin has; the compiler rejects one that needs more', (t) => {
  const fits = definePlugin({
    ...identity,
    uses: { printer: Printing },
    services: { report: singleton(Report) },
    start: ({ report }) => report.printer.print(''),
  });
  t.deepEqual(Object.keys(fits.services), ['report']);
  // @ts-expect-error this class asks for something the plugin does not have: "printer"
  const lacks = definePlugin({ ...identity, services: { report: singleton(Report) } });
  t.is(lacks.name, 'shelf');
  // @ts-expect-error the token is there, under another name
  definePlugin({ ...identity, uses: { printing: Printing }, services: { report: singleton(Report) } });
  // @ts-expect-error a service of this name and another type
  definePlugin({ ...identity, services: { printer: singleton(Object), report: singleton(Report) } });
  definePlugin({
    ...identity,
    // @ts-expect-error nothing is in scope that was not declared
    start: ({ printer }) => void printer,
  });
  // @ts-expect-error a field of the contract is missing
  definePlugin({ name: 'shelf', version: '1.0.0', api: 1 });
});

test("a schema's type has its optional, nullable and literal fields", (t) => {
  const age: number | undefined = person.age;
  t.is(age, undefined);
  // @ts-expect-error a required field is missing
  const missing: Person = { kind: 'a', tags: [], nick: null, loud: true };
  // @ts-expect-error not one of the values
  const other: Person = { ...person, kind: 'c' };
  // @ts-expect-error a field that was not declared
  const stranger: Person = { ...person, shoe: 43 };
  // @ts-expect-error null only where it was allowed
  const nameless: Person = { ...person, name: null };
  // @ts-expect-error the items of a list have a type
  const tagged: Person = { ...person, tags: [1] };
  t.is([missing, other, stranger, nameless, tagged].length, 5);
});

test('a handler returns what the reply declares and reads what the input declares', (t) => {
  const declared = { method: 'GET', path: '/x', doc: 'x' } as const;
  const fits = route({
    ...declared,
    params: shape({ id: int() }),
    reply: payload(Person),
    handle: ({ params }) => ({ ...person, age: params.id }),
  });
  t.is(fits.auth, 'admin');
  // @ts-expect-error a field of the reply is missing
  route({ ...declared, reply: payload(Person), handle: () => ({ name: 'ada' }) });
  // @ts-expect-error the reply is of another type
  route({ ...declared, reply: payload(list(int())), handle: () => ['one'] });
  // @ts-expect-error a message is a sentence
  route({ ...declared, reply: message(), handle: () => ({ id: 1 }) });
  // @ts-expect-error the body of an object has no envelope of its own, but a type
  route({ ...declared, reply: bare(int()), handle: () => 'one' });
  const params = shape({ id: int() });
  // @ts-expect-error no such parameter
  route({ ...declared, params, reply: message(), handle: (asked) => String(asked.params.name) });
  // @ts-expect-error every route says what it is for
  route({ method: 'GET', path: '/x', reply: message(), handle: () => '' });
});

test('types taps, tokens and entries by their contract', (t) => {
  const fits = [
    tap(saved, ({ ids }) => void ids.length),
    tap(price, (value, { at }) => value + at),
    tap(pick, () => 1),
    tap(compose, (add) => add({ line: 'x' })),
    tap(before, ({ id }) => void id),
  ];
  t.is(fits.length, 5);
  // @ts-expect-error the payload has no such field
  tap(saved, ({ names }) => void names);
  // @ts-expect-error a filter returns a value of the same type
  tap(price, () => 'much');
  // @ts-expect-error a filter is synchronous
  tap(price, async (value) => value);
  // @ts-expect-error an answer of another type
  tap(pick, () => 'one');
  // @ts-expect-error an entry of another type
  tap(compose, (add) => add('line'));
  // @ts-expect-error the implementation lacks a method
  provide(Printing, {});
  // @ts-expect-error an entry of another type
  contribute(Labels, { title: 'x' });
  // @ts-expect-error the name of a guard begins with before
  guard('shelf/saving');
});

test('a row has the types of its columns, a text of a few words included', (t) => {
  const jars = table('jars', {
    id: column.id(),
    colour: column.text<'red' | 'blue'>(),
    label: column.optionalText(),
    full: column.bool(),
  });
  const jar: Row<typeof jars> = { id: 1, colour: 'red', label: null, full: true };
  // @ts-expect-error none of the words
  const green: Row<typeof jars> = { ...jar, colour: 'green' };
  const read = async (model: TableModel<typeof jars>): Promise<Row<typeof jars>[]> =>
    (await model.findAll()).map((row) => row.get());
  t.is([jar, green, read].length, 3);
});
