// Numbers, amounts, times and names as the page shows them.
import test from 'ava';
import { bytesOfTyped, typedBytes } from '../page/format/bytes.js';
import { Formatter } from '../page/format/formatter.js';
import { LANGUAGES } from '../page/language/languages.js';
import { isolated, shownName } from '../page/format/names.js';

const english = (units: 'binary' | 'decimal' = 'binary') =>
  new Formatter({
    language: 'en',
    isRightToLeft: false,
    units,
    timeZone: 'Asia/Tokyo',
    calendar: 'gregory',
  });
const persian = () =>
  new Formatter({
    language: 'fa',
    isRightToLeft: true,
    units: 'binary',
    timeZone: 'Asia/Tehran',
    calendar: 'persian',
  });
const AT = Date.UTC(2026, 0, 31, 20, 30);

test('amounts have three digits and the unit that the reader has chosen', (t) => {
  const binary = english();
  for (const [bytes, text] of [
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1 KiB'],
    [1024 ** 2 - 1, '1 MiB'],
    [1536 * 1024 ** 2, '1.5 GiB'],
    [123.4 * 1024 ** 3, '123 GiB'],
    [2 ** 70, '1,024 EiB'],
    [Number.NaN, '0 B'],
    [-5, '0 B'],
  ] as const)
    t.is(binary.bytes(bytes).replace('\u00a0', ' '), text);
  t.is(english('decimal').bytes(1_500_000_000).replace('\u00a0', ' '), '1.5 GB');
  t.is(english('decimal').rate(2_000).replace('\u00a0', ' '), '2 kB/s');
});

test('in Persian, digits are Latin, amounts read from left to right, and dates are of its calendar', (t) => {
  const format = persian();
  t.is(format.bytes(1024), '\u20661\u00a0KiB\u2069');
  t.is(format.rate(1024), '\u20661\u00a0KiB/s\u2069');
  t.regex(format.moment(AT), /1404/);
  t.notRegex(`${format.moment(AT)} ${format.distance(0, 3 * 86_400_000)}`, /[\u06f0-\u06f9\u0660-\u0669]/);
});

test('each language counts, dates and plurals by its own rules, with Latin digits', (t) => {
  const days: Record<string, RegExp> = {
    en: /^in 3 days$/,
    fa: /3 روز/,
    ru: /^через 3 дня$/,
    zh: /^3\s?天后$/,
    ar: /3 أيام/,
  };
  for (const { key, direction, calendar } of LANGUAGES) {
    const format = new Formatter({
      language: key,
      isRightToLeft: direction === 'rtl',
      units: 'binary',
      timeZone: 'UTC',
      calendar,
    });
    t.regex(format.number(1234567), /^1.234.567$/, key);
    t.notRegex(format.exactly(AT), /[\u06f0-\u06f9\u0660-\u0669]/, key);
    t.regex(format.distance(3 * 86_400_000, 0), days[key] ?? /^$/, key);
  }
});

test('times are those of the zone, and an unknown zone is that of the browser', (t) => {
  t.regex(english().moment(AT), /Feb 1, 2026/);
  const unknown = new Formatter({
    language: 'en',
    isRightToLeft: false,
    units: 'binary',
    timeZone: 'Mars/Olympus',
    calendar: 'gregory',
  });
  t.is(unknown.timeZone, new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC');
  t.is(english().distance(3 * 86_400_000, 0), 'in 3 days');
  t.is(english().distance(30 * 86_400_000 - 60_000, 0), 'in 30 days', 'a moment after it was set');
  t.is(english().distance(0, 119_000), '1 minute ago');
  t.is(english().distance(0, 61_000), '1 minute ago');
  t.is(english().duration(26 * 3_600_000), '1 day');
  // Never more than there is: a client who ends in 47 hours ends tomorrow.
  t.is(english().distance(47 * 3_600_000, 0), 'tomorrow');
  t.is(english().distance(0, 47 * 3_600_000), 'yesterday');
});

test('a day of a calendar is the same day in each zone', (t) => {
  for (const timeZone of ['America/New_York', 'Asia/Tokyo'])
    t.is(
      new Formatter({
        language: 'en',
        isRightToLeft: false,
        units: 'binary',
        timeZone,
        calendar: 'gregory',
      }).calendarDay('2026-01-31'),
      'Jan 31',
      timeZone,
    );
});

test('a time that no calendar has, as records may have it, is shown as the last one', (t) => {
  const format = english();
  for (const ms of [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
    for (const shown of [format.moment(ms), format.exactly(ms), format.day(ms)]) t.regex(shown, /9999/);
    t.is(format.iso(ms).slice(0, 4), '9999');
    t.regex(format.distance(ms, 0), /^in 2,932,896 days$/);
  }
  for (const ms of [-Number.MAX_SAFE_INTEGER, Number.NaN])
    for (const show of ['moment', 'exactly', 'day', 'time', 'iso'] as const) t.not(format[show](ms), '');
  t.not(format.calendarDay('tomorrow'), '');
});

test('a limit is typed with any digits, and means the same bytes when it is shown again', (t) => {
  t.is(bytesOfTyped('1.5', 'binary'), 1536 * 1024 ** 2);
  t.is(bytesOfTyped('۱۲٫۵', 'decimal'), 12_500_000_000);
  t.is(bytesOfTyped('١٢٫٥', 'decimal'), 12_500_000_000);
  t.is(bytesOfTyped(' ', 'binary'), 0);
  for (const wrong of ['-1', '1e9', 'ten', '1.2.3', '1234567890', 'NaN'])
    t.is(bytesOfTyped(wrong, 'binary'), undefined, wrong);
  for (const bytes of [1024 ** 3, 50 * 1024 ** 3, 1_500_000_000])
    t.true(Math.abs((bytesOfTyped(typedBytes(bytes, 'binary'), 'binary') ?? 0) - bytes) < 1100);
  t.is(typedBytes(0, 'binary'), '');
});

test('names cannot hide, turn the text around or fill the page', (t) => {
  t.is(shownName('ann'), 'ann');
  t.is(shownName('a\0b\nc'), 'a\u2400b\u240ac');
  t.is(shownName('a\u202ecod.exe'), 'a⟨202E⟩cod.exe');
  t.is(shownName('a\u200bb\u2066'), 'a⟨200B⟩b⟨2066⟩');
  t.is(shownName('سارا'), 'سارا');
  t.is([...shownName('😀'.repeat(500))].length, 121);
  // Letters without a shape: a name of nothing else, and two that look the same.
  t.is(shownName('\u3164\u115f\u2800'), '⟨3164⟩⟨115F⟩⟨2800⟩');
  t.is(shownName('ann\u{e0041}\u034f'), 'ann⟨E0041⟩⟨034F⟩');
  const flag = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
  t.is(shownName(`${flag} Leeds`), `${flag} Leeds`);
  t.is(isolated('x\u2069y'), '\u2068x⟨2069⟩y\u2069');
});
