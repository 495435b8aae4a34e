// Texts in all languages: the same keys, the same arguments, and nothing from elsewhere that could be a mark.
import test from 'ava';
import { IntlMessageFormat } from 'intl-messageformat';
import { en, type TextKey } from '../texts/en.js';
import { cut, escapeAll, escapedParts, escapeHtml, messagesOf } from '../texts/html.js';
import { LANGUAGES, languageOf, Texts, textsOf } from '../texts/texts.js';
import { entityLength } from './entities.js';

const KEYS = Object.keys(en) as TextKey[];

interface Part {
  readonly type: number;
  readonly value?: string;
  readonly options?: Readonly<Record<string, { readonly value: readonly Part[] }>>;
}
/** Arguments and the names of their options; those of plurals differ by language. */
function argumentsOf(parts: readonly Part[], found = new Set<string>()): Set<string> {
  for (const { type, value = '', options } of parts) {
    // 0 is text, 7 the number of a plural.
    if (type === 0 || type === 7) continue;
    const names =
      type === 5
        ? Object.keys(options ?? {})
            .sort()
            .join('|')
        : '';
    found.add(`${value}:${type}:${names}`);
    for (const option of Object.values(options ?? {})) argumentsOf(option.value, found);
  }
  return found;
}
const astOf = (template: string, language: string) =>
  new IntlMessageFormat(template, language, undefined, { ignoreTag: true }).getAst() as unknown as Part[];
const marksOf = (template: string): string[] => (template.match(/<\/?\w+>/g) ?? []).sort();

test('all languages have the same texts with the same arguments and marks', (t) => {
  for (const [language, texts] of Object.entries(LANGUAGES)) {
    t.deepEqual(Object.keys(texts).sort(), [...KEYS].sort(), language);
    for (const key of KEYS) {
      const ours = [...argumentsOf(astOf(texts[key], language))].sort();
      t.deepEqual(ours, [...argumentsOf(astOf(en[key], 'en'))].sort(), `${language}.${key}`);
      t.deepEqual(marksOf(texts[key]), marksOf(en[key]), `${language}.${key}`);
      if (language !== 'en' && /[a-z]{4}/i.test(en[key].replaceAll(/\{[^}]*\}|<[^>]*>/g, '')))
        t.not(
          texts[key],
          key === 'email' && language === 'ru' ? '' : en[key],
          `${language}.${key} is translated`,
        );
    }
  }
});

test('every text is whole with hostile values, in every language', (t) => {
  const evil = '<b>{x}</b>&amp;\u202e\u0000\ud800</code>"\'{count, plural, other {#}}';
  for (const language of Object.keys(LANGUAGES)) {
    const texts = new Texts(language);
    for (const key of KEYS) {
      const names = [...argumentsOf(astOf(en[key], 'en'))].map((found) => found.split(':'));
      const values = Object.fromEntries(
        names.map(([name = '', type = '']) => [name, type === '1' || type === '5' ? evil : 3]),
      );
      const html = texts.html(key, values);
      t.is(typeof entityLength(html.replaceAll(/<\/?i>/g, '')), 'number', `${language}.${key}: ${html}`);
      for (const hidden of ['\u0000', '\u202e', '\ud800'])
        t.false(html.includes(hidden), `${language}.${key}`);
    }
  }
});

test('a long value is cut, and long texts become several messages', (t) => {
  t.true(escapeHtml('x'.repeat(100_000)).length <= 1_000);
  t.is(cut('a😀b', 3), 'a…', 'no half characters');
  for (const text of [
    'word '.repeat(5_000),
    '<'.repeat(9_000),
    '😀'.repeat(5_000),
    'x'.repeat(4_097),
    `${'line\n'.repeat(3_000)}`,
    '&'.repeat(4_096),
  ]) {
    const parts = escapedParts(text);
    for (const part of parts) {
      const length = entityLength(part);
      t.true(typeof length === 'number' && length <= 4_096 && part.length <= 4_096, text.slice(0, 10));
    }
    const whole = parts.join('').replaceAll(/\s/g, '');
    t.is(whole, escapeAll(text).replaceAll(/\s/g, ''), 'nothing is lost');
  }
  const messages = messagesOf(Array.from({ length: 500 }, (_, n) => `<b>${n}</b> ${'y'.repeat(40)}`));
  t.true(messages.length > 1 && messages.every((message) => typeof entityLength(message) === 'number'));
});

test('languages are found by their tags', (t) => {
  t.deepEqual(['fa', 'fa-IR', 'ru-RU', 'zh-CN', 'zh-TW', 'EN-us'].map(languageOf), [
    'fa',
    'fa',
    'ru',
    'zh',
    'zh',
    'en',
  ]);
  for (const tag of ['', 'x', 'ja-JP', 'constructor', 'zhx', '__proto__'])
    t.is(languageOf(tag), undefined, tag);
  t.is(textsOf('ja-JP').language, 'en');
  t.is(textsOf('ru').plain('days', { count: 21 }), '21 день');
  t.is(textsOf('ru').plain('days', { count: 5 }), '5 дней');
  t.is(textsOf('fa').plain('days', { count: 12 }), '۱۲ روز');
  t.is(textsOf('en').moment(8.7e15, undefined), '∞');
});
