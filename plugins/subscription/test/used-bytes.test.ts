// What the header of a fetch says about use and limits, and when links stop: at the limit itself, not when it is found.
import test from 'ava';
import { definePlugin } from '../../../kernel/index.js';
import type { Database } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { Clients, type ClientsApi } from '../../clients/contract.js';

interface Inner {
  readonly db: Database;
  readonly clients: ClientsApi;
}

test('used bytes stand in the header, each way on its own, and a client at its limit gets no links, polled or not', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const inner: Partial<Inner> = {};
  const insider = definePlugin({
    name: 'insider',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    uses: { clients: Clients },
    start: ({ db, clients }) => void Object.assign(inner, { db, clients }),
  });
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [insider], clock });
  const { db, clients } = inner as Inner;
  const inboundId = await panel.addInbound();
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/', subEncrypt: false } });
  const expiryTime = clock.now() + 60_999;
  const ids = new Map<string, number>();
  for (const [email, fields] of Object.entries({
    busy: { totalGB: 5000 },
    quota: { totalGB: 1000 },
    expiry: { expiryTime },
    waiting: { expiryTime: -5000 },
  }))
    ids.set(email, (await panel.addClient(email, [inboundId], { ...fields, subId: email })).id);
  const fetched = async (subId: string, method = 'GET') => {
    const answer = await fetch(`${panel.subscriptionUrl}/s/${subId}`, { method });
    const links = (await answer.text()).split('\n').filter(Boolean).length;
    return { status: answer.status, info: answer.headers.get('subscription-userinfo'), links };
  };
  const isOn = async (email: string): Promise<boolean> =>
    (await panel.get<{ enable: boolean }>(`/panel/api/clients/get/${email}`)).enable;

  engine.move(inboundId, ids.get('busy') ?? 0, 111, 2222);
  clock.tick(5000);
  await panel.kernel.settled();
  const busy = { status: 200, info: 'upload=111; download=2222; total=5000; expire=0' };
  t.deepEqual(await fetched('busy'), { ...busy, links: 1 });
  t.deepEqual(await fetched('busy', 'HEAD'), { ...busy, links: 0 });
  t.is((await fetched('waiting')).info, 'upload=0; download=0; total=0; expire=0');

  // Bytes that were counted a moment ago: nobody has looked at the limit yet.
  const count = (up: number, down: number) =>
    db.write((tx) =>
      clients.addUsage(tx, [{ clientId: ids.get('quota') ?? 0, inboundId, up, down }], clock.now()),
    );
  await count(900, 99);
  t.deepEqual(await fetched('quota'), {
    status: 200,
    info: 'upload=900; download=99; total=1000; expire=0',
    links: 1,
  });
  await count(0, 1);
  t.true(await isOn('quota'));
  t.deepEqual(await fetched('quota'), {
    status: 200,
    info: 'upload=900; download=100; total=1000; expire=0',
    links: 0,
  });

  const info = `upload=0; download=0; total=0; expire=${Math.floor(expiryTime / 1000)}`;
  clock.tick(expiryTime - clock.now() - 1);
  await panel.kernel.settled();
  t.deepEqual(await fetched('expiry'), { status: 200, info, links: 1 });
  clock.tick(1);
  t.true(await isOn('expiry'));
  t.deepEqual(await fetched('expiry'), { status: 200, info, links: 0 });
  t.deepEqual(await fetched('waiting'), { ...(await fetched('waiting')), links: 1 });
});
