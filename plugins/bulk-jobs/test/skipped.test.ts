// Runs on every database.
// The list of skipped clients: pages, CSV, counts.
import test from 'ava';
import { addClients, boot, JOBS, run, skippedOf } from './world.js';

test('pages have each skipped client once, and the counts are theirs', async (t) => {
  const { panel, inbound } = await boot(t);
  await addClients(panel, inbound, 1_300, (i) => (i % 2 === 0 ? { expiryTime: 0 } : {}));
  const job = await run(panel, { action: 'adjust', params: { addDays: 1 }, filter: {} });
  t.like(job, { changed: 650, skipped: 650, listed: 650 });
  t.deepEqual(
    job.reasons.map(({ reason, count }) => [reason, count]),
    [['unlimited expiry', 650]],
  );
  const emails: string[] = [];
  for (let page = 1; page <= 4; page++) {
    const { total, items } = await skippedOf(panel, job.id, `?page=${page}&pageSize=200`);
    t.is(total, 650);
    emails.push(...items.map(({ email }) => email));
  }
  t.is(emails.length, 650);
  t.is(new Set(emails).size, 650);
  t.deepEqual((await skippedOf(panel, job.id, '?page=5&pageSize=200')).items, []);
  const { text, headers } = await panel.call(`${JOBS}/${job.id}/skipped.csv`);
  t.regex(headers.get('content-type') ?? '', /^text\/csv/);
  t.regex(headers.get('content-disposition') ?? '', /^attachment; filename=job-1-skipped\.csv$/);
  const lines = text.trimEnd().split('\r\n');
  t.is(lines[0], 'id,email,outcome,code,reason');
  t.deepEqual(
    lines.slice(1).map((line) => line.split(',')[1]),
    emails,
  );
});

test('a spreadsheet finds no formula in the CSV', async (t) => {
  const { panel, inbound } = await boot(t);
  const names = ['=1+1', '+1', '-1', '@SUM(A1)', '=HYPERLINK("x","y")', 'a,b"c', '=cmd|x', "'=1"];
  await addClients(panel, inbound, names.length, (i) => ({ email: names[i], expiryTime: 0 }));
  const { id } = await run(panel, {
    action: 'adjust',
    params: { addDays: 1 },
    emails: [...names, '=nobody()\n', '\t=x', 'two\r\nlines'],
  });
  const { text } = await panel.call(`${JOBS}/${id}/skipped.csv`);
  const cells = parsed(text);
  t.is(cells.length, names.length + 4);
  t.true(cells.every((row) => row.length === 5));
  for (const [, email = ''] of cells) t.notRegex(email, /^[=+\-@\t\r\n]/);
  t.deepEqual(
    cells
      .slice(1)
      .map(([, email]) => email)
      .toSorted(),
    [
      "'=1+1",
      "'+1",
      "'-1",
      "'@SUM(A1)",
      '\'=HYPERLINK("x","y")',
      'a,b"c',
      "'=cmd|x",
      "'=1",
      "'=nobody()",
      "'=x",
      'two\r\nlines',
    ].toSorted(),
  );
});

/** RFC 4180. */
function parsed(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end = ''] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g,
  )) {
    if (quoted === undefined && plain === '' && end === '') continue;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}
