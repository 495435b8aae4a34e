// Exported patterns take what the patterns of our schemas take, and nothing else; and they hold nothing that only JavaScript reads.
import test from 'ava';
import { classOf, rangesOf } from '../code-points.js';
import { patternOf } from '../pattern.js';
import { bootWithoutCore } from '../../../test/harness/reference.js';
import type { Schema } from '../../../kernel/index.js';

const LAST = 0x10ffff;
const exported = (pattern: RegExp): RegExp => new RegExp(patternOf(String(pattern)) ?? '(?!)', 'u');

/** The code points on which both disagree, as far as one text of one code point can tell. */
function differences(ours: RegExp, theirs: RegExp): number[] {
  const found: number[] = [];
  // The scripts with classes of their own are in the first plane; beyond it every 11th is enough for long ranges.
  for (let point = 0; point <= LAST; point += point < 0xffff ? 1 : 11) {
    // Halves of surrogate pairs are no characters.
    if (point === 0xd800) point = 0xe000;
    const text = String.fromCodePoint(point);
    if (ours.test(text) !== theirs.test(text)) found.push(point);
  }
  return found;
}

for (const pattern of [
  /^[^\p{Cc}\p{Cs}]*$/u,
  /^(?:[^\p{Cc}\p{Cs}]|[\t\r\n])*$/u,
  /^(?!\.{1,2}$)[^\s/\\\p{Cc}\p{Cs}]+$/u,
  /^[^\s\p{Cc}\p{Cs}/@#?]*$/u,
  /^\p{Lu}$/u,
  /^\P{Lu}$/u,
  /^[\p{L}\-&~|]$/u,
  /^\w$/u,
  /^\W$/u,
  /^\d$/u,
  /^\s$/u,
  /^\S$/u,
  /^.$/u,
  // Biome has something against the literal.
  new RegExp(['^[^', ']$'].join(''), 'u'),
  /^[\ud800-\udbff]$/u,
  /^[^\ud800-\udbff]$/u,
  /^[^a\ud800-\udfff]$/u,
  /^[\ud000-\uf000]$/u,
  /^s$/iu,
  /^[k-s]$/iu,
  /^[^k-s]$/iu,
  /^\u{1f600}$/u,
  /^\x41\u0042?\cA?$/u,
])
  test(`code points are accepted or rejected as before: ${String(pattern)}`, (t) => {
    t.not(patternOf(String(pattern)), undefined);
    t.deepEqual(differences(pattern, exported(pattern)).slice(0, 5), []);
  });

/** The same texts in every run. */
function* randomTexts(count: number, alphabet: string): Generator<string> {
  let state = 1;
  const next = (most: number): number => {
    state = (Math.imul(state, 48_271) >>> 0) % 0x7fffffff;
    return state % most;
  };
  const characters = [...alphabet];
  for (let i = 0; i < count; i++)
    yield Array.from({ length: next(7) }, () => characters[next(characters.length)]).join('');
}

for (const [pattern, alphabet] of [
  [/^(?!\.{1,2}$)[^\s/\\\p{Cc}\p{Cs}]+$/u, '.a/\\ \u0000😀\u00a0é'],
  [/^(?:ab|[^c-e])*z?$/i, 'abcABCDEzZſ'],
  [/\bab\B.\b/u, 'abé_ -c'],
  [/^(?<name>a|b)(?:x{2,3}|[.\]-])$/, 'abx.]-'],
  [/(?<=a)b(?!c)/, 'abc'],
  [/^[\w-]+@\S+$/, 'aé@- _\u00a0'],
] as const)
  test(`texts are accepted or rejected as before: ${String(pattern)}`, (t) => {
    const theirs = exported(pattern);
    let taken = 0;
    for (const text of randomTexts(20_000, alphabet)) {
      if (pattern.test(text)) taken++;
      if (pattern.test(text) !== theirs.test(text))
        return t.fail(`${JSON.stringify(text)}: ${theirs.source}`);
    }
    t.true(taken > 100 && taken < 19_900, `${taken} texts were taken, so hardly anything was compared`);
  });

test('what JSON Schema cannot say is not said', (t) => {
  for (const pattern of [/a/s, /a/m, /(?<x>a)\k<x>/u, /a/y]) t.is(patternOf(String(pattern)), undefined);
});

test('plain classes stay as people wrote them', (t) => {
  t.is(patternOf(String(/^[A-Za-z0-9.:_-]*$/)), '^[A-Za-z0-9.:_-]*$');
  t.is(patternOf(String(/^[^\p{Cc}\p{Cs}]*$/u)), '^[^\\x00-\\x1f\\x7f-\\x9f]*$');
});

test('what is an operation on classes elsewhere does not stand in a class', (t) => {
  for (const set of ['[+--]', '[a&&b]', '[a~~b]', '[a||b]']) {
    const ours = new RegExp(`^${set}$`, 'u');
    t.notRegex(patternOf(String(ours)) ?? '', /--|&&|~~|\|\|/, set);
    t.deepEqual(differences(ours, exported(ours)).slice(0, 5), [], set);
  }
});

test('halves of surrogate pairs are named nowhere, for some engines refuse them', (t) => {
  for (const set of [
    '[^a]',
    '[^a\\p{Cs}]',
    '[^]',
    '[\\ud800-\\udbffa]',
    '\\p{Cs}',
    '\\P{Lu}',
    '[\\ud000-\\uf000]',
  ])
    t.notRegex(classOf(rangesOf(set, 'u')), /\\ud[89a-f]/, set);
  t.is(classOf([]), '(?!)');
});

/** Every pattern in the description of a joi schema. */
function patternsIn(described: unknown, found = new Set<string>()): Set<string> {
  if (typeof described !== 'object' || described === null) return found;
  for (const [key, value] of Object.entries(described)) {
    if (key === 'regex' && typeof value === 'string') found.add(value);
    else patternsIn(value, found);
  }
  return found;
}

test('the patterns of all routes are the same patterns outside', async (t) => {
  await using panel = await bootWithoutCore();
  const schemas = panel.kernel.listeners
    .routes()
    .flatMap(({ route: { params, query, body } }) => [params, query, body])
    .filter((schema): schema is Schema => schema !== undefined);
  const patterns = new Set(schemas.flatMap((schema) => [...patternsIn(schema.describe())]));
  t.true(patterns.size >= 8, `${patterns.size} patterns were found`);
  for (const described of patterns) {
    const [, source = '', flags = ''] = /^\/([\s\S]*)\/([a-z]*)$/.exec(described) ?? [];
    const theirs = patternOf(described) ?? '';
    t.notRegex(theirs, /\\[pPsSwWdDbB]|\\u\{|\\ud[89a-f]|\(\?</, described);
    t.deepEqual(differences(new RegExp(source, flags), new RegExp(theirs, 'u')).slice(0, 5), [], described);
  }
});
