// A reply is refused before it is parsed when parsing it would hold the panel.
import test from 'ava';
import { whyNotParsed } from '../calls/reply-scan.js';

const MOST = 8 * 1024 * 1024;
const filled = (item: string, bytes = MOST): string =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}${item}]`;

test('a reply of nothing but separators is not parsed', async (t) => {
  for (const item of ['{}', '[]', '1,1', '{"":1}'])
    t.regex((await whyNotParsed(filled(item), MOST)) ?? '', /holds more than 2097152 separators/, item);
  t.regex((await whyNotParsed('['.repeat(MOST), MOST)) ?? '', /nest/);
});

test('lists of clients, counters and times are parsed, as large as they may be', async (t) => {
  const user = '{"clientId":100000,"inboundId":5,"up":0,"down":0}';
  const traffic =
    '{"id":1,"inboundId":1,"enable":true,"email":"ann","up":0,"down":0,"expiryTime":0,"total":0,"reset":0}';
  for (const item of [user, traffic]) t.is(await whyNotParsed(filled(item), MOST), undefined, item);
  const times = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"user-${i}@example.org":1700000000000`).join(',')}}`;
  t.is(await whyNotParsed(times(30_000), MOST), undefined);
  t.regex((await whyNotParsed(times(200_000), MOST)) ?? '', /holds more than 50000 different keys/);
});
