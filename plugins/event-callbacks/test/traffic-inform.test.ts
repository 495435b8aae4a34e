// Reports of the bytes of each poll.
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { Receiver } from './receiver.js';

interface Report {
  readonly clientTraffics: readonly { readonly email: string; readonly up: number; readonly down: number }[];
  readonly inboundTraffics: readonly object[];
}
interface Status {
  readonly sent: number;
  readonly failed: number;
  readonly skipped: number;
  readonly lastError: string;
}

async function boot(
  env: Readonly<Record<string, string>> = { WEIR_OUTGOING_ALLOW: 'event-callbacks=127.0.0.1' },
) {
  const clock = new FakeClock();
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock, env });
  const receiver = await Receiver.start();
  const inbound = await panel.addInbound();
  const ann = await panel.addClient('ann', [inbound]);
  const bob = await panel.addClient('bob', [inbound]);
  const set = (body: object) => panel.get('/panel/api/setting/update', { body });
  await set({ externalTrafficInformEnable: true, externalTrafficInformURI: receiver.url });
  const status = () => panel.get<Status>('/panel/api/x/event-callbacks/trafficInform');
  /** Moves bytes, and waits until they are counted. */
  const poll = async (id: number, down: number): Promise<void> => {
    engine.move(inbound, id, 0, down);
    clock.tick(5_000);
    await until(
      async () =>
        (await panel.get<{ down: number }>(`/panel/api/clients/traffic/${id === ann.id ? 'ann' : 'bob'}`))
          .down >= down,
      'the bytes are counted',
    );
  };
  const reports = () => receiver.received.map(({ body }) => JSON.parse(body) as Report);
  return {
    ...{ panel, engine, clock, receiver, inbound, ann, bob, set, status, poll, reports },
    async [Symbol.asyncDispose]() {
      await panel[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

test('the bytes of each poll are sent in the form of older panels', async (t) => {
  await using world = await boot();
  const { engine, clock, inbound, ann, bob, reports, receiver, panel, status, set } = world;
  engine.move(inbound, ann.id, 10, 200);
  engine.move(inbound, bob.id, 1, 2);
  clock.tick(5_000);
  await until(() => receiver.received.length === 1, 'a report arrives');
  const [{ tag } = { tag: '' }] = await panel.get<{ tag: string }[]>('/panel/api/inbounds/list');
  const [report] = reports();
  t.deepEqual(
    report?.clientTraffics.map(({ email, up, down }) => [email, up, down]),
    [
      ['ann', 10, 200],
      ['bob', 1, 2],
    ],
  );
  t.deepEqual(report?.inboundTraffics, [{ IsInbound: true, IsOutbound: false, Tag: tag, Up: 11, Down: 202 }]);
  await until(async () => (await status()).sent === 1, 'it is counted');
  engine.move(inbound, ann.id, 0, 50);
  clock.tick(5_000);
  await until(() => receiver.received.length === 2, 'the next one arrives');
  t.deepEqual(
    reports()[1]?.clientTraffics.map(({ email, down }) => [email, down]),
    [['ann', 50]],
  );
  clock.tick(5_000);
  await set({ externalTrafficInformEnable: false });
  engine.move(inbound, ann.id, 0, 60);
  clock.tick(5_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.is(receiver.received.length, 2, 'not without bytes, and not when it is off');
});

test('a receiver that hangs delays no poll: reports are skipped and counted', async (t) => {
  await using world = await boot();
  const { receiver, poll, ann, status } = world;
  receiver.reply = () => undefined;
  await poll(ann.id, 100);
  await until(() => receiver.received.length === 1, 'a report hangs');
  await until(async () => {
    await poll(ann.id, 200);
    return (await status()).skipped >= 2;
  }, 'polls go on, and two are skipped');
  await until(async () => (await status()).failed >= 1, 'it is given up after 3 s');
  t.regex((await status()).lastError, /did not answer within 3 s|longer than 3 s/);
  receiver.reply = (_, reply) => void reply.writeHead(200).end();
  await until(async () => {
    await poll(ann.id, 400);
    return (await status()).sent >= 1;
  }, 'the next one is sent');
});

test('a private address is not called unless it is allowed, nor is a redirect followed', async (t) => {
  await using world = await boot({});
  const { receiver, poll, ann, status, panel, set } = world;
  await poll(ann.id, 100);
  await until(async () => (await status()).failed === 1, 'it is refused');
  t.regex((await status()).lastError, /WEIR_OUTGOING_ALLOW/);
  t.is(receiver.received.length, 0);
  for (const wrong of [
    'ftp://a.example',
    'shop.example/report',
    'http:///path',
    'https://u:p@a.example',
    7,
  ]) {
    const { status: code, text } = await panel.call('/panel/api/setting/update', {
      body: { externalTrafficInformURI: wrong },
    });
    t.is(code, 400);
    t.true(text.includes('externalTrafficInformURI'), text);
  }
  await set({ externalTrafficInformURI: '' });
});
