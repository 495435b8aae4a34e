import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Journal } from '../journal.js';
import { entryOf } from '../journal-entry.js';
import { unitIn } from '../unit.js';

test('the unit of a service, of the system or of a user; a session, a container and a terminal have none', (t) => {
  t.deepEqual(unitIn('0::/system.slice/weir.service\n'), { name: 'weir.service', isOfUser: false });
  t.deepEqual(unitIn('12:pids:/\n1:name=systemd:/system.slice/weir@2.service\n0::/\n'), {
    name: 'weir@2.service',
    isOfUser: false,
  });
  t.deepEqual(unitIn('0::/user.slice/user-1000.slice/user@1000.service/app.slice/weir.service\n'), {
    name: 'weir.service',
    isOfUser: true,
  });
  t.deepEqual(unitIn('0::/system.slice/weir.service/core\n')?.name, 'weir.service');
  for (const none of [
    '',
    '0::/\n',
    '0::/user.slice/user-0.slice/session-1.scope\n',
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-Terminal-12.scope\n',
    '0::/user.slice/user-1000.slice/user@1000.service/init\n',
    '0::/system.slice/--all.service\n',
    '0::/system.slice/a b.service\n',
  ])
    t.is(unitIn(none), undefined, none);
});

const entry = (fields: object): string =>
  JSON.stringify({ __REALTIME_TIMESTAMP: '1763885704123456', PRIORITY: '6', ...fields });

test('a line of the panel has its own level and time; any other that of the journal', (t) => {
  const own = { time: '2026-11-23T08:15:04.500Z', level: 'warn', msg: 'a core exited', pid: 5 };
  t.deepEqual(entryOf(entry({ MESSAGE: JSON.stringify(own) })), {
    at: Date.parse(own.time),
    level: 'warn',
    text: 'a core exited {"pid":5}',
  });
  const at = 1_763_885_704_123;
  t.deepEqual(entryOf(entry({ MESSAGE: 'Started.' })), { at, level: 'info', text: 'Started.' });
  t.deepEqual(entryOf(entry({ MESSAGE: 'Failed.', PRIORITY: '3' })), { at, level: 'error', text: 'Failed.' });
  t.deepEqual(entryOf(entry({ MESSAGE: '{"level":"loud","msg":1}' }))?.text, '{"level":"loud","msg":1}');
  t.is(entryOf(entry({ MESSAGE: [...Buffer.from('bytes')] }))?.text, 'bytes');
  t.is(entryOf(entry({ MESSAGE: null }))?.text, '[too long]');
  for (const text of ['', '-- No entries --', '[1]', 'null']) t.is(entryOf(text), undefined, text);
});

/** A program that writes as journalctl does. */
async function program(t: ExecutionContext, script: string, limit = 5000): Promise<Journal> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-journal-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const command = join(folder, 'journalctl');
  await writeFile(command, `#!/bin/sh\n${script}\n`);
  await chmod(command, 0o700);
  return new Journal({}, { command, limit, unit: async () => ({ name: 'weir.service', isOfUser: false }) });
}
const lineOf = (level: string, msg: string): string =>
  `echo '${entry({ MESSAGE: JSON.stringify({ time: '2026-11-23T08:15:04.500Z', level, msg }) })}'`;

test('the journal of the unit is read until enough lines of the level are found', async (t) => {
  const journal = await program(
    t,
    `[ "$*" = "--no-pager --quiet --reverse --output=json --output-fields=MESSAGE,PRIORITY --unit=weir.service" ] || exit 9
${['error', 'info', 'warn', 'debug', 'error'].map((level, i) => lineOf(level, `m${i}`)).join('\n')}`,
  );
  const texts = async (count: number, least: 'warn' | 'debug') =>
    (await journal.last(count, least)).map(({ text }) => text);
  t.deepEqual(await texts(10, 'debug'), ['m0', 'm1', 'm2', 'm3', 'm4']);
  t.deepEqual(await texts(10, 'warn'), ['m0', 'm2', 'm4']);
  t.deepEqual(await texts(2, 'warn'), ['m0', 'm2']);
});

test('a journal without an end is read as far as the limit goes, and the program does not stay', async (t) => {
  const journal = await program(t, `while :; do ${lineOf('info', 'x'.repeat(10_000))}; done`);
  t.is((await journal.last(3, 'info')).length, 3);
  t.deepEqual(await journal.last(1, 'error'), []);
});

test('a missing, failing or hanging program is an error that says why', async (t) => {
  const failing = await program(
    t,
    'echo "No journal files were opened due to insufficient permissions." >&2; exit 1',
  );
  await t.throwsAsync(failing.last(1, 'info'), { message: /insufficient permissions/ });
  const silent = await program(t, 'exit 3');
  await t.throwsAsync(silent.last(1, 'info'), { message: /exit code 3/ });
  const hanging = await program(t, 'exec sleep 60', 200);
  await t.throwsAsync(hanging.last(1, 'info'), { message: /has not answered within 0\.2 s/ });
  const unit = async () => ({ name: 'weir.service', isOfUser: true });
  const missing = new Journal({}, { command: '/nowhere/journalctl', unit });
  await t.throwsAsync(missing.last(1, 'info'), { message: /ENOENT/ });
  const none = new Journal({}, { unit: async () => undefined });
  await t.throwsAsync(none.last(1, 'info'), { message: /does not run as a service/ });
});
