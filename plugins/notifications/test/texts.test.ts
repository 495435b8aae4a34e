import test from 'ava';
import type { Contributed } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { readPreset } from '../../../panel/choose-plugins.js';
import { findPlugins } from '../../../panel/find-plugins.js';
import {
  eventTextsProblem,
  type NotifiedEvent,
  NotifiedEvents,
  type Translation,
  Translations,
} from '../contract.js';
import { cleanText } from '../texts/clean-value.js';
import { OWN_TEXTS } from '../texts/own-texts.js';
import { textsProblem } from '../texts/template-check.js';
import { TextRenderer } from '../texts/text-renderer.js';

const LANGUAGES = ['en', 'fa', 'ru', 'zh'] as const;
/** A letter of the script that a text in this language must have. */
const SCRIPTS = { en: /[a-z]/i, fa: /\p{Script=Arabic}/u, ru: /\p{Script=Cyrillic}/u, zh: /\p{Script=Han}/u };

/** Entries of all plugins of the preset, without a start. */
async function declared(): Promise<NotifiedEvent<never>[]> {
  const stub: unknown = new Proxy(() => stub, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => '' : stub),
    apply: () => stub,
  });
  return (await findPlugins(await readPreset('standard'))).flatMap(({ contributes }) =>
    contributes(stub as never)
      .filter(({ point }) => point === NotifiedEvents)
      .map(({ value }) => value as NotifiedEvent<never>),
  );
}
const renderer = (translations: readonly Translation[] = [], zone = 'UTC') => {
  const faults: string[] = [];
  const texts = new TextRenderer({
    contributions: ((point: unknown) =>
      point === Translations
        ? translations.map(
            (value): Contributed<Translation> => ({
              plugin: 'added',
              value,
              fault: (where) => void faults.push(where),
            }),
          )
        : []) as never,
    panel: { read: () => ({ timeLocation: zone }) } as never,
  });
  return { texts, faults };
};
const event = (texts: NotifiedEvent<never>['texts'], items?: NotifiedEvent<never>['items']) => ({
  name: 'sample',
  titles: { en: 'Sample' },
  texts,
  ...(items && { items }),
});

test('every declared event has its title, its text and its items in four languages, with the same arguments', async (t) => {
  const events = await declared();
  t.true(events.length >= 20, `${events.length} events`);
  for (const one of events) {
    t.is(eventTextsProblem(one), undefined);
    for (const texts of [one.titles, one.texts, ...Object.values(one.items ?? {})])
      t.deepEqual(Object.keys(texts).sort(), [...LANGUAGES], `${one.name} in four languages`);
    for (const language of LANGUAGES)
      for (const text of [one.titles[language], one.texts[language]])
        t.regex(text ?? '', SCRIPTS[language], `${one.name} in ${language}`);
    t.is(new Set(LANGUAGES.map((language) => one.titles[language])).size, 4, `${one.name}: titles differ`);
  }
  for (const { title, text } of Object.values(OWN_TEXTS))
    for (const texts of [title, text]) {
      t.is(textsProblem(texts), undefined);
      t.deepEqual(Object.keys(texts).sort(), [...LANGUAGES]);
    }
});

test('names of events and aliases are unique in what they mean, and a wider event is there', async (t) => {
  const events = await declared();
  const names = new Set(events.map(({ name }) => name));
  t.is(names.size, events.length);
  for (const { name, partOf, aliases = [] } of events) {
    if (partOf !== undefined) t.true(names.has(partOf), `${name} is part of ${partOf}`);
    for (const alias of aliases) t.false(names.has(alias), alias);
  }
  const known = [
    'clientDepleted',
    'coreStateChanged',
    'loginBlocked',
    'outboundDown',
    'outboundUp',
    'alarmRaised',
    'alarmCleared',
  ];
  for (const name of known) t.true(events.find((one) => one.name === name)?.isOnByDefault, name);
});

test('plurals, dates, numbers and lists follow the language', (t) => {
  const { texts } = renderer([], 'Europe/Moscow');
  const sample = event({
    en: '{count, plural, one {# day} other {# days}} until {at, date, medium} {at, time, short}',
    fa: '{count, plural, one {# روز} other {# روز}} تا {at, date, medium} {at, time, short}',
    ru: '{count, plural, one {# день} few {# дня} many {# дней} other {# дня}} до {at, date, medium} {at, time, short}',
    zh: '{count, plural, other {# 天}} {at, date, medium} {at, time, short}',
  });
  const at = new Date(Date.UTC(2026, 2, 20, 22, 30));
  const all = (language: string, count: number) => texts.event(sample, language, { count, at }).text;
  t.regex(all('en', 1), /^1 day until Mar 21, 2026 1:30\sAM$/u);
  t.regex(all('ru', 1), /^1 день до 21 мар\. 2026\sг\. 01:30$/u);
  t.regex(all('ru', 2), /^2 дня /);
  t.regex(all('ru', 5), /^5 дней /);
  t.regex(all('ru', 21), /^21 день /);
  t.regex(all('fa', 3), /^۳ روز تا ۱ فروردین ۱۴۰۵/u, 'Persian digits and calendar');
  t.regex(all('zh', 3), /^3 天 2026年3月21日 01:30$/);
  t.is(all('fa-IR', 3), all('fa', 3));
  t.is(all('zh_CN', 3), all('zh', 3));
  t.is(all('sw', 1), all('en', 1), 'a language that nobody has is English');
  const listed = event({ en: 'x {names}', ru: 'y {names}' }, { names: { en: '<{name}>', ru: '«{name}»' } });
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({ name }));
  t.is(texts.event(listed, 'en', { names }).text, 'x <a>, <b>, <c>, <d>, <e>, and 2 more');
  t.is(texts.event(listed, 'ru', { names: names.slice(0, 2) }).text, 'y «a» и «b»');
  t.is(texts.event(listed, 'ru', { names }).text, 'y «a», «b», «c», «d», «e» и ещё 2');
});

test('hostile values do no harm to the sentence', (t) => {
  const { texts } = renderer();
  const sample = event({ en: 'client {email} is off', fa: 'کاربر {email} خاموش است' });
  const said = (email: string, language = 'en') => texts.event(sample, language, { email }).text;
  t.is(
    said("<b>x</b> & {y} '{z' #"),
    "client <b>x</b> & {y} '{z' # is off",
    'mark-up and braces are plain text',
  );
  t.is(said('{count, plural, other {#}}'), 'client {count, plural, other {#}} is off');
  t.is(said('a\u202Eb\u2066c\u200Fd\u061Ce\uFEFFf'), 'client abcdef is off', 'marks of direction are gone');
  t.is(said('a\u0000b\nc\u001B[31m\u2028d'), 'client a b c [31m d is off', 'one line, no control characters');
  t.is(said('x'.repeat(65_536)), `client ${'x'.repeat(199)}… is off`);
  t.is(said('\u202E'.repeat(65_536)), 'client … is off');
  t.is(said(`${'x'.repeat(198)}😀😀`), `client ${'x'.repeat(198)}… is off`, 'no half of a character');
  t.is(said('\uD800'), 'client � is off');
  t.is(said('نامِ\u200Cکاربر'), 'client نامِ\u200Cکاربر is off', 'what Persian needs stays');
  t.is(said('ada@example.org', 'fa'), 'کاربر \u2068ada@example.org\u2069 خاموش است');
  const long = event({ en: 'a {x} {y} {z}'.repeat(100) });
  t.true(texts.event(long, 'en', { x: 'x'.repeat(999), y: 'y', z: 'z' }).text.length <= 2_000);
  t.is(cleanText('\u0007'), '');
});

test('a 64 KiB value costs no time', (t) => {
  const { texts } = renderer();
  const sample = event({ en: '{x}' });
  // CPU time, which other work on the machine does not lengthen.
  const started = process.cpuUsage();
  for (let i = 0; i < 1_000; i++) texts.event(sample, 'en', { x: '<\u202E{'.repeat(21_845) });
  const { user, system } = process.cpuUsage(started);
  const took = (user + system) / 1_000;
  t.log(`1,000 texts of 64 KiB values: ${took.toFixed(0)} ms`);
  t.true(took < 1_000, `${took} ms`);
});

test('another language is used where it has the text; a wrong one falls back to English and is named once', (t) => {
  const { texts, faults } = renderer([
    {
      language: 'de',
      events: {
        sample: { title: 'Beispiel', text: 'Kunde {email}', items: { names: '„{name}“' } },
        wrong: { text: 'Kunde {nobody}' },
        test: { title: 'Test', text: 'Das ist ein Test.' },
        more: { text: '{count, number} weitere' },
      },
    },
  ]);
  t.deepEqual(texts.event(event({ en: 'client {email}' }), 'de-AT', { email: 'ada' }), {
    title: 'Beispiel',
    text: 'Kunde ada',
  });
  const wrong = { ...event({ en: 'client {email}' }), name: 'wrong' };
  for (let i = 0; i < 30; i++) t.is(texts.event(wrong, 'de', { email: 'ada' }).text, 'client ada');
  t.deepEqual(faults, ['the text text of wrong in de']);
  const { texts: more } = renderer([{ language: 'zh-Hant', events: { sample: { text: '客戶 {email}' } } }]);
  t.is(
    more.event(event({ en: 'client {email}', zh: '客户 {email}' }), 'zh-Hant-TW', { email: 'a' }).text,
    '客戶 a',
  );
  t.is(
    more.event(event({ en: 'client {email}', zh: '客户 {email}' }), 'zh-TW', { email: 'a' }).text,
    '客户 a',
  );
  t.is(texts.own('test', 'de').text, 'Das ist ein Test.');
  t.regex(texts.own('missed', 'de', { title: 'Kern' }).text, /^Kern: so much happened/);
});

test('a text that cannot be filled in is replaced by the title', (t) => {
  const { texts } = renderer();
  t.is(texts.event(event({ en: 'client {email}' }), 'en', {}).text, 'Sample');
  t.is(
    texts.event(event({ en: 'until {at, date, short}' }), 'en', { at: new Date(Number.NaN) }).text,
    'Sample',
  );
  t.is(texts.event(event({ en: 'x {names}' }), 'en', { names: [{ name: 'a' }] }).text, 'x ?');
});

test('the extension points refuse what cannot be used, and say what', (t) => {
  const outside = { name: 'acme', outside: true, tables: {}, hooks: [] } as never;
  const hook = { kind: 'event', id: 'acme/x' };
  const good = {
    name: 'acme.low',
    severity: 'info',
    isOnByDefault: true,
    hook,
    describe: () => [],
    titles: { en: 'T' },
    texts: { en: 'x {y}' },
  };
  const says = (part: object, pattern: RegExp) =>
    t.regex(NotifiedEvents.problem?.({ ...good, ...part } as never, outside, []) ?? '', pattern);
  t.is(NotifiedEvents.problem?.(good as never, outside, []), undefined);
  says({ name: 'low' }, /must be called acme or acme\.…/);
  says({ name: 'Acme low' }, /name of an event/);
  says({ name: 'default' }, /not test or default/);
  says({ severity: 'fatal' }, /severity of the event acme\.low must be one of info, warning, critical/);
  says({ hook: { kind: 'after', id: 'acme/x' } }, /needs a hook/);
  says({ texts: { en: 'x {y' } }, /texts of the event acme\.low: en is not a valid message/);
  says({ texts: { fa: 'x' } }, /en is not a valid message: it must be a text/);
  says({ texts: { en: 'x {y}', fa: 'x {z}' } }, /fa does not have the same arguments as en: \{z\}/);
  says({ titles: 'T' }, /titles of the event acme\.low/);
  says({ texts: { en: 'x'.repeat(2_001) } }, /longer than 2000 characters/);
  const language = (value: object) => Translations.problem?.(value as never, outside, []) ?? '';
  t.is(language({ language: 'de', events: { x: { text: 'a' } } }), '');
  t.regex(language({ language: 'not a tag', events: {} }), /tag such as de/);
  t.regex(
    language({ language: 'de', events: { x: { text: '{' } } }),
    /text of x in de is not a valid message/,
  );
});

test('a panel lists its events in a language', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const events = await panel.get<{ name: string; title: string; plugin: string }[]>(
    '/panel/api/x/notifications/events?language=ru',
  );
  t.like(
    events.find(({ name }) => name === 'loginBlocked'),
    { title: 'Вход заблокирован', plugin: 'access', aliases: ['login.attempt'], isOnByDefault: true },
  );
  t.is((await panel.call('/panel/api/x/notifications/events?language=%00')).status, 400);
});
