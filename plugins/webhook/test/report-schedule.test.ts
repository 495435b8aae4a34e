// When the report is sent: clocks that jump, settings that change while one is half sent.
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { ChatError } from '../chat-call.js';
import { ReportSchedule } from '../report-schedule.js';

const at = Date.UTC(2026, 0, 15, 12);
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

function world(settings: { zone?: string; webhookRunTime?: string; webhookBackup?: boolean } = {}) {
  const clock = new FakeClock(at);
  const values = {
    webhookEnable: true,
    webhookBackup: false,
    webhookLang: 'en',
    webhookRunTime: '@every 1h',
  };
  const { zone = 'UTC', ...others } = settings;
  Object.assign(values, others);
  const posted: string[] = [];
  const stub = { fail: (_title: string): Error | undefined => undefined, isSetUp: true };
  const chat = {
    get isSetUp() {
      return stub.isSetUp;
    },
    post: async ({ title }: { title: string }) => {
      const failure = stub.fail(title);
      if (failure) throw failure;
      posted.push(title);
    },
  };
  const schedule = new ReportSchedule({
    settings: { read: () => values },
    allSettings: { read: () => ({ timeLocation: zone }) },
    clock,
    log: { warn: () => undefined },
    report: { embed: async () => ({ title: 'report' }) },
    chat,
    backupFile: { make: async () => ({ name: 'copy', bytes: Buffer.alloc(1) }) },
  } as never);
  /** Ten seconds pass, as between two runs of the job, so often. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10_000) {
      clock.tick(10_000);
      await schedule.look(signal);
    }
  };
  return { clock, values, posted, stub, schedule, pass };
}

test('a clock that was far ahead does not hold the report until then', async (t) => {
  const { clock, posted, schedule, pass } = world();
  clock.jump(400 * DAY_MS);
  await schedule.look(signal);
  clock.jump(-400 * DAY_MS);
  await schedule.look(signal);
  await pass(3_600_000);
  t.deepEqual(posted, ['report']);
});

test('an expression with seconds sends one report a minute', async (t) => {
  const { posted, schedule, pass } = world({ webhookRunTime: '* * * * * *' });
  await schedule.look(signal);
  await pass(10 * 60_000);
  t.true(posted.length >= 9 && posted.length <= 10, String(posted.length));
});

test('a report whose file was not sent does not take the place of the next one', async (t) => {
  const change: Record<string, (values: { webhookRunTime: string; webhookEnable: boolean }) => unknown> = {
    'another time': (values) => (values.webhookRunTime = '@every 2h'),
    disabled: (values) => (values.webhookEnable = false),
  };
  for (const [name, to] of Object.entries(change)) {
    const { values, posted, stub, schedule, pass } = world({ webhookBackup: true });
    stub.fail = (title) => (title === 'Backup' ? new ChatError('broken') : undefined);
    await schedule.look(signal);
    await pass(3_600_000);
    t.deepEqual(posted, ['report'], name);
    to(values);
    await pass(120_000);
    values.webhookEnable = true;
    stub.fail = () => undefined;
    await pass(2 * 3_600_000);
    t.deepEqual(posted.slice(0, 3), ['report', 'report', 'Backup'], name);
  }
});

test('a report is tried three times, waits as long as the chat asks, and then for its next time', async (t) => {
  const { posted, stub, schedule, pass } = world();
  let calls = 0;
  stub.fail = () => (calls++, new ChatError('slow', { retryAfterMs: 200_000 }));
  await schedule.look(signal);
  await pass(3_600_000);
  t.is(calls, 1);
  await pass(190_000);
  t.is(calls, 1);
  await pass(10_000);
  t.is(calls, 2);
  await pass(200_000);
  t.is(calls, 3);
  await pass(1_800_000);
  t.is(calls, 3, 'given up');
  stub.fail = () => (calls++, new ChatError('no token', { isPermanent: true }));
  await pass(1_800_000);
  t.is(calls, 4, 'the next one');
  await pass(1_800_000);
  t.is(calls, 4, 'permanent: not tried again');
  t.deepEqual(posted, []);
});

test('an expression is read in the time zone of the panel', async (t) => {
  const { posted, schedule, pass } = world({ webhookRunTime: '0 0 * * *', zone: 'Asia/Tehran' });
  await schedule.look(signal);
  await pass(8.4 * 3_600_000);
  t.deepEqual(posted, []);
  await pass(0.2 * 3_600_000);
  t.deepEqual(posted, ['report'], 'at 20:30 UTC');
});
