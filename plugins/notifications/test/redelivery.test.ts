// Sending again by hand.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Database, definePlugin } from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { channel, deliveriesOf } from './channels.js';

const redeliver = (panel: TestPanel, id: number) =>
  panel.call(`/panel/api/x/notifications/deliveries/${id}/redeliver`, { method: 'POST' });

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

test('of two calls at once, one queues it and the other one is told that it waits', async (t) => {
  const engine = new FakeEngine();
  let isHanging = false;
  let sent = 0;
  let release = (): void => undefined;
  const slow = channel('slow', {
    send: async () => {
      sent++;
      if (isHanging) await new Promise<void>((resolve) => void (release = resolve));
    },
  });
  await using panel = await TestPanel.boot({
    without: ['alarms'],
    plugins: [engine.plugin],
    outside: [slow],
  });
  engine.enter('stop');
  await until(async () => (await deliveriesOf(panel))[0]?.state === 'delivered', 'it is delivered');
  isHanging = true;
  const [delivery] = await deliveriesOf(panel);
  const answers = await Promise.all([1, 2, 3, 4].map(() => redeliver(panel, delivery?.id ?? 0)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  await until(() => sent === 2, 'the attempt');
  release();
  await until(async () => (await deliveriesOf(panel))[0]?.state === 'delivered', 'it is delivered again');
  t.is(sent, 2);
  const changes = await panel.get<object[]>('/panel/api/x/audit/changes?area=notification');
  t.is(changes.length, 1);
});

test('a full queue refuses it instead of dropping it with a success', async (t) => {
  const engine = new FakeEngine();
  let database: Database | undefined;
  const filler = definePlugin({
    name: 'filler',
    version: '1.0.0',
    api: 1,
    about: 'Fills the log.',
    start: ({ db }) => void (database = db),
  });
  const dataDirectory = await folder(t);
  const boot = (send: () => Promise<void>) =>
    TestPanel.boot({
      without: ['alarms'],
      plugins: [engine.plugin, filler],
      outside: [channel('full', { send })],
      dataDirectory,
    });
  const first = await boot(async () => undefined);
  engine.enter('stop');
  await until(async () => (await deliveriesOf(first))[0]?.state === 'delivered', 'it is delivered');
  const [delivery] = await deliveriesOf(first);
  const columns =
    'notification_id, channel, event, severity, at, title, message, data, is_summary, client_id';
  const more = 'client_email, messenger_id';
  await database?.write(async (tx) => {
    for (const digit of [1, 10, 100, 1_000])
      for (let times = 1; times < 10; times++)
        await tx.run(
          `INSERT INTO notification_deliveries (id, ${columns}, ${more}, state, attempts, queued_at, attempted_at, problem)
           SELECT id + ${digit * times}, ${columns}, ${more}, 'waiting', 0, ${Date.now()}, 0, '' FROM notification_deliveries
           WHERE id < ${1 + digit}`,
        );
    await tx.run(
      `INSERT INTO notification_deliveries (id, ${columns}, ${more}, state, attempts, queued_at, attempted_at, problem)
       SELECT 10001, ${columns}, ${more}, 'waiting', 0, ${Date.now()}, 0, '' FROM notification_deliveries WHERE id = 2`,
    );
  });
  await first.stop();
  await using second = await boot(() => new Promise<never>(() => undefined));
  const answer = await redeliver(second, delivery?.id ?? 0);
  t.is(answer.status, 409);
  t.regex(answer.body.msg, /queue of this channel is full/);
  t.is((await deliveriesOf(second, `?before=${(delivery?.id ?? 0) + 1}`))[0]?.state, 'delivered');
});
