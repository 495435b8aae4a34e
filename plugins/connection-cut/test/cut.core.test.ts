// With a real core: what a removed client has open is closed, and what others have open continues.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  MIB,
  openPanel,
  openServer,
  poll,
  type Transfer,
  type User,
} from '../../../test/engine/user.js';
import type { CorePanel } from '../../../test/engine/core-panel.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { Sockets } from '../sockets.js';

const test = testUnless(await new Sockets().obstacle());
const RATE = MIB;
/** Far more than flows while a test runs. A client program may not notice at once that it was cut off, so the server is asked. */
const ENDLESS = 600 * MIB;

const streams: Readonly<Record<string, object>> = {
  tcp: { network: 'tcp' },
  ws: { network: 'ws', wsSettings: { path: '/w' } },
};

async function continues(panel: CorePanel, transfer: Transfer, what: string): Promise<void> {
  const before = transfer.soFar;
  await panel.until(() => transfer.soFar > before + MIB / 4, what);
}
const openConnections = async (panel: CorePanel, id: number) =>
  (
    await panel.get<{ openConnections: { end: boolean; reason: string; ended: number; missed: number } }>(
      `/panel/api/inbounds/get/${id}`,
    )
  ).openConnections;

for (const [name, streamSettings] of Object.entries(streams)) {
  test(`over ${name}, a client that is disabled, deleted or depleted is cut within two polls, and nobody else`, async (t) => {
    const server = await openServer(t);
    const panel = await openPanel(t);
    const id = await panel.addInbound({ streamSettings });
    const emails = ['stays', 'disabled', 'deleted', 'depleted'];
    const users = new Map<string, User>();
    for (const email of emails) {
      await panel.addClient(email, [id]);
      users.set(email, await connect(t, panel, email, server));
    }
    const transfers = new Map([...users].map(([email, user]) => [email, user.start(ENDLESS, RATE)]));
    const soFar = (email: string): number => transfers.get(email)?.soFar ?? 0;
    await panel.until(() => emails.every((email) => soFar(email) > 0), 'all of them transfer');
    t.is(server.giving, emails.length);

    const removals: Record<string, () => Promise<unknown>> = {
      disabled: () => panel.get('/panel/api/clients/update/disabled', { body: { enable: false } }),
      deleted: () => panel.get('/panel/api/clients/del/deleted', { method: 'POST' }),
      // One poll finds it. No second one at once: a poll five seconds later is the last that may still count its bytes.
      depleted: async () => {
        const totalGB = soFar('depleted') + MIB / 2;
        await panel.get('/panel/api/clients/update/depleted', { body: { totalGB } });
        await panel.until(() => soFar('depleted') > totalGB, 'the quota is used up');
        await poll(panel);
      },
    };
    for (const [removed, remove] of Object.entries(removals)) {
      await remove();
      transfers.delete(removed);
      await panel.until(() => server.giving === transfers.size, `the transfer of "${removed}" ends`);
      for (const [email, transfer] of transfers) await continues(panel, transfer, `"${email}" continues`);
      t.is(server.giving, transfers.size);
      t.false(await users.get(removed)?.served(), `${removed}: no new connection either`);
    }
    t.deepEqual(await openConnections(panel, id), { end: true, reason: '', ended: 3, missed: 0 });
  });
}

test('while the setting is off, open connections stay open and the inbound says so; those opened after it is on are closed', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  await panel.get('/panel/api/setting/update', { body: { engineCutConnections: false } });
  const id = await panel.addInbound();
  for (const email of ['a', 'b']) await panel.addClient(email, [id]);
  const [a, b] = [await connect(t, panel, 'a', server), await connect(t, panel, 'b', server)];
  const first = a.start(ENDLESS, RATE);
  await panel.until(() => first.soFar > 0, 'it transfers');
  await panel.get('/panel/api/clients/update/a', { body: { enable: false } });
  t.like(await openConnections(panel, id), {
    end: false,
    reason: 'the setting engineCutConnections is off',
    ended: 0,
  });
  await poll(panel);
  await panel.call('/panel/api/system/jobs/connection-cut/cut', { method: 'POST' });
  await sleep(500);
  await continues(panel, first, 'it continues past a poll');

  await panel.get('/panel/api/setting/update', { body: { engineCutConnections: true } });
  const second = b.start(ENDLESS, RATE);
  await panel.until(() => second.soFar > 0, 'the other transfers');
  t.is(server.giving, 2);
  await panel.get('/panel/api/clients/update/b', { body: { enable: false } });
  await panel.until(() => server.giving === 1, 'it ends');
  await continues(panel, first, 'one that was opened while the setting was off continues');
});

test('after it adopts a core, the panel knows the connections from its log', async (t) => {
  const server = await openServer(t);
  const first = await openPanel(t);
  const id = await first.addInbound();
  for (const email of ['a', 'b']) await first.addClient(email, [id]);
  const a = (await connect(t, first, 'a', server)).start(ENDLESS, RATE);
  const b = (await connect(t, first, 'b', server)).start(ENDLESS, RATE);
  await first.until(() => a.soFar > 0 && b.soFar > 0, 'both transfer');
  await first.leave();
  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.truthy(second.said('adopted a running core'));
  t.is(server.giving, 2);
  await second.get('/panel/api/clients/update/a', { body: { enable: false } });
  await second.until(() => server.giving === 1, 'a connection from before ends');
  await continues(second, b, 'the other continues');
});
