// A log that is read again and again: what is new is added once, and nothing is lost.
import test from 'ava';
import { shownText } from '../page/format/names.js';
import {
  type Entry,
  entryOfConnection,
  entryOfPanel,
  found,
  grown,
  type Log,
  MOST_LINES,
  newIn,
} from '../page/system/log-lines.js';
import { logViewOf } from '../page/system/log-view.js';

const entries = (texts: readonly string[]): Entry[] => texts.map(entryOfPanel);
const numbered = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}`);

/** A log that answers with its last lines, and remembers what it was asked for. */
function fakeLog(lines: string[]) {
  const asked: number[] = [];
  const load = async (count: number): Promise<Entry[]> => {
    asked.push(count);
    return entries(lines.slice(-count));
  };
  return { lines, asked, load };
}
const texts = (log: Log): string[] => log.lines.map(({ text }) => text);

test('lines that were written since are added once, and ids stay', async (t) => {
  const log = fakeLog(numbered(1, 30));
  const first = await grown(undefined, 20, log.load);
  t.deepEqual(texts(first), numbered(11, 30));
  t.is(await grown(first, 20, log.load), first);
  log.lines.push(...numbered(31, 33));
  const second = await grown(first, 20, log.load);
  t.deepEqual(texts(second), numbered(11, 33));
  t.deepEqual(
    second.lines.slice(0, 20).map(({ id }) => id),
    first.lines.map(({ id }) => id),
  );
  t.is(new Set(second.lines.map(({ id }) => id)).size, 23);
  t.deepEqual(log.asked, [20, 100, 100]);
  log.lines.push(...numbered(34, 35));
  const third = await grown(second, 20, log.load);
  t.is(new Set(third.lines.map(({ id }) => id)).size, 25);
});

test('after a burst the panel is asked for more, up to the whole log', async (t) => {
  const log = fakeLog(numbered(1, 10));
  let known = await grown(undefined, 500, log.load);
  log.lines.push(...numbered(11, 700));
  known = await grown(known, 500, log.load);
  t.deepEqual(texts(known), numbered(1, 700));
  t.deepEqual(log.asked, [500, 100, 1_000]);
  // More than the panel gives: what is known has a gap, and is left out.
  log.lines.push(...numbered(701, 20_000));
  known = await grown(known, 500, log.load);
  t.deepEqual(texts(known), numbered(10_001, 20_000));
});

test('a log that began again is shown from its beginning', async (t) => {
  const log = fakeLog(numbered(1, 10));
  const known = await grown(undefined, 500, log.load);
  log.lines.splice(0, 10, 'started', 'ready');
  const next = await grown(known, 500, log.load);
  t.deepEqual(texts(next), ['started', 'ready']);
  t.false(known.lines.some(({ id }) => next.lines.some((line) => line.id === id)));
  log.lines.splice(0);
  t.deepEqual(texts(await grown(next, 500, log.load)), []);
});

test('equal lines are told apart by those before them', (t) => {
  const known = entries(['a', 'b', 'b']);
  t.is(newIn(known, entries(['a', 'b', 'b'])), 0);
  t.is(newIn(known, entries(['a', 'b', 'b', 'b'])), 1);
  t.is(newIn(known, entries(['b', 'b', 'c', 'b'])), 2);
  t.is(newIn(known, entries(['c', 'd'])), undefined);
  t.is(newIn(known, []), undefined);
});

test('the page has no more lines than it can show', async (t) => {
  const log = fakeLog(numbered(1, 10_000));
  let known = await grown(undefined, 10_000, log.load);
  for (let last = 10_500; last <= 24_000; last += 500) {
    log.lines.push(...numbered(last - 499, last));
    known = await grown(known, 10_000, log.load);
  }
  t.is(known.lines.length, MOST_LINES);
  t.is(known.lines.at(-1)?.text, 'line 24000');
});

test('lines have their level, connections their parts', (t) => {
  t.is(entryOfPanel('2026/11/23 08:15:04 WARNING - ERROR - x').level, 'warn');
  t.is(entryOfPanel('anything').level, 'info');
  const connection = {
    DateTime: '2026-11-29T06:33:09.000Z',
    FromAddress: '192.0.2.1:5000',
    ToAddress: 'tcp:example.com:443',
    Inbound: 'in-1',
    Outbound: 'blocked',
    Email: 'ann',
    Event: 1,
  };
  const { text, level } = entryOfConnection(connection);
  t.is(text, '2026-11-29 06:33:09Z ann 192.0.2.1:5000 → tcp:example.com:443 [in-1 → blocked]');
  t.is(level, 'warn');
});

test('a search finds lines in any case', async (t) => {
  const { lines } = await grown(undefined, 10, fakeLog(['One', 'two', 'ONCE']).load);
  t.deepEqual(
    found(lines, ' on ').map(({ text }) => text),
    ['One', 'ONCE'],
  );
  t.is(found(lines, ''), lines);
});

test('what is usual, or said wrong, is left out of the address', (t) => {
  const nothing = { log: 'panel', level: 'info', way: 'direct', search: '', lines: '500' };
  t.deepEqual(Object.values(logViewOf(nothing)).filter(Boolean), []);
  t.like(logViewOf({ log: 'core', level: 'error', way: 'blocked', search: 'x'.repeat(300), lines: '9' }), {
    log: 'core',
    level: undefined,
    way: 'blocked',
    search: 'x'.repeat(256),
    lines: undefined,
  });
});

test('a long text is clipped between characters, and a short one is not', (t) => {
  t.is(shownText('😀'.repeat(5), 5), '😀'.repeat(5));
  t.is(shownText('😀'.repeat(70_000), 5), `${'😀'.repeat(5)}…`);
  t.is(shownText(`a\u202eb\u0000`, 5), 'a⟨202E⟩b␀');
});
