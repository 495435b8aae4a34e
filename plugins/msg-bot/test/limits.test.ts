// Limits of single parts: what waits, how often a server is asked, and which updates are new.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { BotFailure } from '../api/failure.js';
import { readUpdates } from '../api/update.js';
import { Inbox } from '../chat/inbox.js';
import { poll } from '../life/poller.js';
import { UpdateLog } from '../life/update-log.js';
import { Sender } from '../send/sender.js';
import { messageOf } from './bot-server.js';

const DAY_MS = 86_400_000;
const log = { warn: () => undefined, info: () => undefined, debug: () => undefined };

test('an update is new once; after a week of silence the numbers may begin elsewhere', async (t) => {
  const clock = new FakeClock();
  const stored: object[] = [];
  const updates = new UpdateLog({
    db: { write: (work: (tx: object) => unknown) => work({}) },
    tables: { bots: { findByPk: async () => null, upsert: async (row: object) => stored.push(row) } },
    clock,
    log,
  } as never);
  const claim = async (...ids: number[]) =>
    (await updates.claim('1', ids.map((update_id) => ({ update_id })) as never)).map((one) => one.update_id);
  t.deepEqual(await claim(10, 11), [10, 11]);
  t.deepEqual(await claim(11, 12), [12]);
  t.is(await updates.offset('1'), 13);
  t.deepEqual(await claim(3), []);
  clock.jump(7 * DAY_MS);
  t.is(await updates.offset('1'), 0);
  t.deepEqual(await claim(3), [3]);
  t.deepEqual(await claim(12), [12], 'and count on from there');
  t.is(stored.length, 4, 'nothing is written where nothing is new');
});

test('an update whose next number could not be stored exactly is none', (t) => {
  const most = Number.MAX_SAFE_INTEGER;
  t.is(readUpdates([{ update_id: most }]), undefined);
  t.deepEqual(readUpdates([{ update_id: most - 1 }]), [{ update_id: most - 1 }]);
});

test('a server that answers at once with nothing is not asked again and again', async (t) => {
  const stop = new AbortController();
  let calls = 0;
  const run = poll({
    api: { updates: async () => (calls++, []) } as never,
    signal: stop.signal,
    offset: async () => 0,
    take: async () => 0,
    report: () => undefined,
  });
  await sleep(300);
  stop.abort(new Error('enough'));
  await t.throwsAsync(run);
  t.is(calls, 1);
});

test('at most ten messages of one user wait', async (t) => {
  let handled = 0;
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const warnings: string[] = [];
  const inbox = new Inbox({
    screens: { handle: async () => (await gate, handled++) },
    owners: { has: () => false },
    settings: { read: () => ({ msgBotChatId: '11', msgBotLang: 'en' }) },
    allSettings: { read: () => ({ timeLocation: 'UTC' }) },
    clock: new FakeClock(),
    log: { ...log, warn: (message: string) => warnings.push(message) },
  } as never);
  const session = { signal: new AbortController().signal, username: 'bot' } as never;
  for (let n = 0; n < 25; n++) inbox.take(session, { update_id: n, ...messageOf(11, '/status') } as never);
  open();
  await inbox.settled();
  t.is(handled, 10);
  t.is(warnings.length, 1);
});

test('a command does not wait for minutes because the Bot API asks for it', async (t) => {
  const failure = new BotFailure('rate', 'slow', 120_000);
  const sender = new Sender({ send: () => Promise.reject(failure) } as never, new AbortController().signal);
  const sent = sender.send(1, ['x']).then(
    () => 'sent',
    (error: Error) => error.message,
  );
  t.is(await Promise.race([sent, sleep(2_000, 'it waits')]), 'slow');
});
