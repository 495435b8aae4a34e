// Runs on every database in test:full.
// What a bulk call changes is on its way to the core after the answer: later edits and a panel that is killed must not lose any of it.
import { join } from 'node:path';
import test from 'ava';
import { userOf } from '../../plugins/engine/contract.js';
import { CoreApi } from '../../plugins/engine/xray/api.js';
import { eachMessage } from '../../plugins/engine/xray/each-message.js';
import { decode } from '../../plugins/engine/xray/messages.js';
import type { PanelApi } from '../harness/api.js';
import { openPanel, spawnPanel } from './user.js';

const CLIENTS = 900;
const emailOf = (n: number): string => `many${n}`;

/** Ids of the clients that an inbound of the core has. */
async function usersOf(dataDirectory: string, tag: string): Promise<Set<number>> {
  const api = new CoreApi(join(dataDirectory, 'engine', 'api.sock'));
  const ids = new Set<number>();
  await eachMessage(await api.inboundUsers(tag), 1, (bytes) => {
    // The name ends with the mark of the folder (name-mark.ts).
    const [name = ''] = decode('xray.common.protocol.User', bytes).email.split('~');
    const id = userOf(name)?.clientId;
    if (id !== undefined) ids.add(id);
  });
  api.close();
  return ids;
}

const create = (panel: PanelApi, inboundIds: readonly number[], from: number) =>
  panel.get<{ created: number; pending?: number; lagMs?: number }>('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: CLIENTS }, (_, i) => ({ client: { email: emailOf(from + i) }, inboundIds })),
  });
const idOf = async (panel: PanelApi, email: string): Promise<number> =>
  (await panel.get<{ id: number }>(`/panel/api/clients/get/${email}`)).id;

test('clients that are disabled or deleted on their way to the core are not in it, all others are, also after kill -9', async (t) => {
  const first = await spawnPanel(t);
  const inboundIds = [await first.addInbound(), await first.addInbound({ protocol: 'trojan' })];
  const tags = (await first.get<{ id: number; tag: string }[]>('/panel/api/inbounds/list'))
    .filter(({ id }) => inboundIds.includes(id))
    .map(({ tag }) => tag);
  const created = await create(first, inboundIds, 0);
  t.is(created.created, CLIENTS);
  t.true((created.pending ?? 0) > 0 && (created.lagMs ?? 0) > 0);
  const [disabled, deleted] = [emailOf(CLIENTS - 1), emailOf(CLIENTS - 2)];
  const gone = [await idOf(first, disabled), await idOf(first, deleted)];
  await first.get('/panel/api/clients/bulkDisable', { body: { emails: [disabled] } });
  await first.get(`/panel/api/clients/del/${deleted}`, { body: {} });
  const onTheWay = async () =>
    (await first.get<{ engine: { usersOnTheWay: number } }>('/panel/api/server/status')).engine.usersOnTheWay;
  while ((await onTheWay()) > 0);
  for (const tag of tags) {
    const users = await usersOf(first.dataDirectory, tag);
    t.is(users.size, CLIENTS - 2, tag);
    for (const id of gone) t.false(users.has(id), tag);
  }

  t.true(((await create(first, inboundIds, CLIENTS)).pending ?? 0) > 0);
  await first.kill('SIGKILL');
  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.truthy(second.said('adopted a running core'));
  for (const tag of tags) t.is((await usersOf(first.dataDirectory, tag)).size, 2 * CLIENTS - 2, tag);
});
