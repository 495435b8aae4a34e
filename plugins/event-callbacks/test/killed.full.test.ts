// Runs on every database in test:full.
// A panel that is killed between commit and delivery: every committed change arrives, and in order.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';
import { until } from '../../../test/harness/until.js';
import type { EndpointReply } from '../fields.js';
import { clientOf, isSigned, Receiver } from './receiver.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const NO_CORE = { WEIR_ENGINE_BIN: '/nowhere/xray' };
const KILLS = 4;
const PATH = '/panel/api/x/event-callbacks';

test('after kill -9 every committed change arrives at least once, in its order', async (t) => {
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  await using receiver = await Receiver.start();
  // Slow, so that there is always something on its way.
  receiver.reply = (_, reply) => void setTimeout(() => reply.writeHead(204).end(), 15);
  let panel = await PanelProcess.start({ env: NO_CORE });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const inbound = await panel.addInbound();
  const { secret } = await panel.get<{ secret: string }>(`${PATH}/endpoints`, {
    body: { url: receiver.url, events: ['client.*'], allowPrivate: true },
  });

  const committed: string[] = [];
  let count = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = sleep(150 + below(500)).then(() => panel.kill('SIGKILL'));
    for (;;) {
      const email = `c${count++}`;
      const added = await panel
        .call('/panel/api/clients/add', { body: { client: { email }, inboundIds: [inbound] } })
        .catch(() => undefined);
      if (!added) break;
      committed.push(`client.created ${email}`);
      const body = { comment: 'changed' };
      const changed = await panel.call(`/panel/api/clients/update/${email}`, { body }).catch(() => undefined);
      if (!changed) break;
      committed.push(`client.updated ${email}`);
    }
    await killed;
    panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  }
  const arrived = (): string[] =>
    receiver.received.map(({ json }) => `${json.type} ${String(clientOf(json)['email'])}`);
  t.log(`${committed.length} changes, ${KILLS} kills`);
  t.true(committed.length > 8);
  await until(() => committed.every((event) => arrived().includes(event)), 'all arrive');
  // The first arrival of each event, in order; a kill may repeat a few.
  const first = [...new Set(arrived())].filter((event) => committed.includes(event));
  t.deepEqual(first, committed);
  const ids = new Map<string, Set<string>>();
  for (const received of receiver.received) {
    t.true(isSigned(received, secret));
    const event = `${received.json.type} ${String(clientOf(received.json)['email'])}`;
    ids.set(event, (ids.get(event) ?? new Set()).add(received.id));
  }
  t.true(
    [...ids.values()].every(({ size }) => size === 1),
    'a repetition has the same id',
  );
  t.log(`${receiver.received.length - ids.size} repetitions`);
  // An attempt, and what came of it in the last 100 ms, for each kill.
  t.true(receiver.received.length - ids.size <= KILLS * 12);

  // An attempt under way would be repeated.
  await until(async () => {
    const [endpoint] = await panel.get<EndpointReply[]>(`${PATH}/endpoints`);
    return endpoint?.waiting === 0;
  }, 'the last reply is noted');
  const before = receiver.received.length;
  await panel.kill('SIGTERM');
  panel = await PanelProcess.start({ env: NO_CORE, dataDirectory });
  await panel.addClient('last', [inbound]);
  await until(() => arrived().includes('client.created last'), 'the last one arrives');
  t.is(receiver.received.length, before + 1, 'a planned stop repeats nothing');
});
