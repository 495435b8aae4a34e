import test from 'ava';
import { cut, escaped, fitted } from '../embed.js';
import { colorOf } from '../notification-embed.js';
import { nextRun, runTimeProblem } from '../run-time.js';

const timestamp = '2026-01-15T12:00:00.000Z';

test('texts are cut by UTF-16 units, and no character is halved', (t) => {
  t.is(cut('', 10), '-');
  t.is(cut(' \n ', 10), '-');
  t.is(cut('abcdefghij', 10), 'abcdefghij');
  t.is(cut('abcdefghijk', 10), 'abcdefg...');
  t.is(cut('abcdef😀😀😀', 10), 'abcdef...');
  t.is(cut('abcde😀😀😀', 10), 'abcde😀...');
  t.is(cut('abcdef\\*hijk', 10), 'abcdef...', 'half an escape would show');
  t.is(cut('abcde\\\\hijkl', 10), 'abcde\\\\...');
  t.is(cut('a\uD83D', 10), 'a\uFFFD');
});

test('each part of an embed leaves less room for the next ones', (t) => {
  const lengthOf = (embed: ReturnType<typeof fitted>): number =>
    embed.title.length +
    (embed.description?.length ?? 0) +
    (embed.footer?.text.length ?? 0) +
    (embed.fields ?? []).reduce((all, { name, value }) => all + name.length + value.length, 0);
  const value = 'v'.repeat(1_000);
  const fields = Array.from({ length: 10 }, (_, i) => ({ name: `field ${i}`, value }));
  for (const description of [undefined, 'd'.repeat(3_000)]) {
    const embed = fitted({ title: 't', ...(description && { description }), color: 1, fields, timestamp });
    t.true(lengthOf(embed) <= 6_000, `${lengthOf(embed)}`);
    t.true(lengthOf(embed) > 5_000, 'the room is used');
  }
});

test('an embed stays within all limits of the chat', (t) => {
  const long = '😀'.repeat(5_000);
  const embed = fitted({
    title: long,
    description: long,
    color: 1,
    footer: { text: long },
    fields: Array.from({ length: 40 }, () => ({ name: long, value: long })),
    timestamp,
  });
  t.true(embed.title.length <= 256 && embed.title.endsWith('...'));
  t.true((embed.description?.length ?? 0) <= 4_096);
  t.true((embed.footer?.text.length ?? 0) <= 2_048);
  const sum = (embed.fields ?? []).reduce((all, { name, value }) => all + name.length + value.length, 0);
  t.true(
    embed.title.length + (embed.description?.length ?? 0) + (embed.footer?.text.length ?? 0) + sum <= 6_000,
  );
  const many = fitted({
    title: 't',
    color: 1,
    fields: Array.from({ length: 40 }, () => ({ name: 'n', value: '' })),
    timestamp,
  });
  t.is(many.fields?.length, 25);
  t.is(many.fields?.[0]?.value, '-');
});

test('marks in names are shown and not obeyed', (t) => {
  t.is(escaped('a_b*c`<@1>'), 'a\\_b\\*c\\`\\<\\@1\\>');
  t.is(escaped('[x](http://a)'), '\\[x\\]\\(http\\://a\\)');
});

test('run times are those of older panels', (t) => {
  const noon = Date.UTC(2026, 0, 15, 12);
  t.is(nextRun('@daily', noon, 'UTC'), Date.UTC(2026, 0, 16));
  t.is(nextRun('@every 1h30m', noon, 'UTC'), noon + 5_400_000);
  t.is(nextRun('30 4 * * *', noon, 'UTC'), Date.UTC(2026, 0, 16, 4, 30));
  t.is(nextRun('0 30 4 * * *', noon, 'UTC'), Date.UTC(2026, 0, 16, 4, 30));
  t.is(nextRun('0 0 * * *', noon, 'Asia/Tehran'), Date.UTC(2026, 0, 15, 20, 30));
  t.is(nextRun('', noon, 'UTC'), undefined);
  for (const wrong of [
    '@never',
    'daily',
    '@every 5s',
    '@every',
    '61 * * * *',
    '2026-01-01T00:00:00',
    '0 0 31 2 *',
  ])
    t.not(runTimeProblem(wrong), undefined, wrong);
});

test('a colour says how bad it is', (t) => {
  const color = (event: string, severity: string, data: object = {}) =>
    colorOf({ event, severity, data } as never).toString(16);
  t.is(color('alarmRaised', 'critical'), 'e74c3c');
  t.is(color('cpuHigh', 'warning'), 'f39c12');
  t.is(color('alarmCleared', 'info'), '2ecc71');
  t.is(color('loginSucceeded', 'info'), '3498db');
  t.is(color('coreStateChanged', 'info', { to: 'running' }), '2ecc71');
  t.is(color('coreStateChanged', 'critical', { to: 'error' }), 'e74c3c');
});
