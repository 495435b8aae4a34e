// Each language has all texts, with the same values in them.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { chooseLanguage, LANGUAGES } from '../page/language/languages.js';

const FOLDER = 'plugins/web-ui/page/language/';
const textsOf = async (language: string): Promise<Record<string, string>> =>
  JSON.parse(await readFile(new URL(`${FOLDER}texts/${language}.json`, await sourceRoot()), 'utf8'));

/** Names of the values, in the order of the alphabet. */
function valuesOf(parts: readonly MessageFormatElement[]): string[] {
  const names = parts.flatMap((part): string[] => {
    if (part.type === TYPE.literal || part.type === TYPE.pound) return [];
    if (part.type === TYPE.plural || part.type === TYPE.select)
      return [part.value, ...Object.values(part.options).flatMap(({ value }) => valuesOf(value))];
    return [part.value];
  });
  return [...new Set(names)].sort();
}

test('every language has the texts of English, with the same values', async (t) => {
  const english = await textsOf('en');
  t.true(Object.keys(english).length > 150);
  for (const { key } of LANGUAGES) {
    const texts = await textsOf(key);
    t.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), key);
    for (const [name, text] of Object.entries(texts)) {
      t.not(text.trim(), '', `${key} ${name}`);
      t.deepEqual(valuesOf(parse(text)), valuesOf(parse(english[name] ?? '')), `${key} ${name}`);
    }
  }
});

test('every file of texts is of a language that the page offers', async (t) => {
  const files = await readdir(new URL(`${FOLDER}texts/`, await sourceRoot()));
  t.deepEqual(files.sort(), LANGUAGES.map(({ key }) => `${key}.json`).sort());
  const loaded = await readFile(new URL(`${FOLDER}load-texts.ts`, await sourceRoot()), 'utf8');
  for (const { key } of LANGUAGES)
    for (const file of [`${key}.json`, `${key}.json?later`])
      t.true(loaded.includes(`import('./texts/${file}')`), file);
});

test('every text is used', async (t) => {
  const root = await sourceRoot();
  const names = await readdir(new URL('plugins/web-ui/page/', root), { recursive: true });
  const sources = await Promise.all(
    names
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => readFile(new URL(`plugins/web-ui/page/${name}`, root), 'utf8')),
  );
  const all = sources.join('\n');
  // Keys that are put together: `state.${state}`.
  const begun = [...all.matchAll(/`([\w.]+\.)\$\{/g)].map(([, begin = '']) => begin);
  const unused = Object.keys(await textsOf('en')).filter(
    (key) => !all.includes(`'${key}'`) && !begun.some((begin) => key.startsWith(begin)),
  );
  t.deepEqual(unused, []);
});

test('what is shown before all texts are loaded says none of the later ones', async (t) => {
  const page = new URL('plugins/web-ui/page/', await sourceRoot());
  const { partOf } = (await import(new URL('build/messages.mjs', page).href)) as {
    partOf: (key: string) => string;
  };
  const later = Object.keys(await textsOf('en')).filter((key) => partOf(key) === 'later');
  t.true(later.length > 300);
  // Late pages and the palette wait for the later texts.
  const open = [new URL('main.tsx', page).href];
  const seen = new Set(open);
  for (const file of open) {
    const source = await readFile(new URL(file), 'utf8');
    for (const key of later) t.false(source.includes(`'${key}'`), `${file} says ${key}`);
    for (const [, begin = ''] of source.matchAll(/`([\w.]+\.)\$\{/g))
      t.false(
        later.some((key) => key.startsWith(begin)),
        `${file} says ${begin}…`,
      );
    const loading = source.replaceAll(/^import type [^;]+;/gm, '');
    for (const [, name = ''] of loading.matchAll(/from '(\.[^']+)\.js'/g)) {
      const base = new URL(name, file).href;
      const found = [`${base}.ts`, `${base}.tsx`].find((path) => existsSync(new URL(path)));
      if (found !== undefined && !seen.has(found)) {
        seen.add(found);
        open.push(found);
      }
    }
  }
  t.true(seen.size > 50, String(seen.size));
});

test('the first wanted language that the page has is chosen', (t) => {
  t.is(chooseLanguage(['fa-IR', 'en']).key, 'fa');
  t.is(chooseLanguage(['', 'tlh', 'FA']).key, 'fa');
  t.is(chooseLanguage([]).key, 'en');
});
