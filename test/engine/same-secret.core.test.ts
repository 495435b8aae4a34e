// Runs on every database in test:full.
// A client that gets the secret of one that was deleted a moment ago: the core still has the old one under another name, and
// must not lose the new one with it.
import test from 'ava';
import { connect, openPanel, openServer, spawnPanel, type Teardown } from './user.js';
import type { PanelApi } from '../harness/api.js';

/** With four inbounds, their users are too many to be awaited. */
const CLIENTS = 400;
const PROTOCOLS = ['vless', 'vmess', 'trojan', 'shadowsocks'];
const onTheWay = async (panel: PanelApi): Promise<number> =>
  (await panel.get<{ engine: { usersOnTheWay: number } }>('/panel/api/server/status')).engine.usersOnTheWay;
const arrived = async (panel: PanelApi): Promise<void> => {
  while ((await onTheWay(panel)) > 0);
};

interface Secrets {
  readonly uuid: string;
  readonly password: string;
}

/** Deletes many clients, the last of which comes back at once with the same secrets. */
async function comesBack(panel: PanelApi, inboundIds: readonly number[]): Promise<void> {
  const emails = Array.from({ length: CLIENTS }, (_, i) => `many${i}`);
  await panel.get('/panel/api/clients/bulkCreate', {
    body: emails.map((email) => ({ client: { email }, inboundIds })),
  });
  await arrived(panel);
  const email = emails.at(-1) ?? '';
  const { uuid, password } = await panel.get<Secrets>(`/panel/api/clients/get/${email}`);
  await panel.get('/panel/api/clients/bulkDel', { body: { emails } });
  await panel.get('/panel/api/clients/add', { body: { client: { email, uuid, password }, inboundIds } });
}

async function allServed(
  t: Teardown & { true(is: boolean, why: string): void },
  panel: PanelApi,
): Promise<void> {
  const server = await openServer(t);
  for (const [position, protocol] of PROTOCOLS.entries()) {
    const user = await connect(t, panel, `many${CLIENTS - 1}`, server, position);
    t.true((await user.served()) || (await user.served()), protocol);
  }
}

const openInbounds = async (panel: PanelApi): Promise<number[]> => {
  const ids: number[] = [];
  for (const protocol of PROTOCOLS)
    ids.push(
      await panel.addInbound({
        protocol,
        ...(protocol === 'shadowsocks' && { settings: { method: 'aes-256-gcm' } }),
      }),
    );
  return ids;
};

test('while the deletion is on its way', async (t) => {
  const panel = await openPanel(t);
  await comesBack(panel, await openInbounds(panel));
  await arrived(panel);
  await allServed(t, panel);
});

test('when the panel is killed meanwhile', async (t) => {
  const first = await spawnPanel(t);
  await comesBack(first, await openInbounds(first));
  await first.kill('SIGKILL');
  const panel = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.truthy(panel.said('adopted a running core'));
  await allServed(t, panel);
});
