// Clients that come inside an inbound: the core serves those that are enabled, and no others.
import test from 'ava';
import { connect, openPanel, openServer } from './user.js';

test('an inbound that comes with clients serves the enabled ones, also after updates', async (t) => {
  const server = await openServer(t);
  const panel = await openPanel(t);
  const past = Date.now() - 1000;
  const clients: Record<string, unknown>[] = [
    { email: 'on', flow: 'xtls-rprx-vision-udp443' },
    { email: 'off', enable: false },
    { email: 'expired', expiryTime: past },
  ];
  const id = await panel.addInbound({ settings: { clients } });
  const users = Object.fromEntries(
    await Promise.all(
      clients.map(async ({ email }) => [email, await connect(t, panel, String(email), server)]),
    ),
  ) as Record<string, Awaited<ReturnType<typeof connect>>>;
  const served = async () => ({
    on: await users['on']?.served(),
    off: await users['off']?.served(),
    expired: await users['expired']?.served(),
  });
  t.deepEqual(await served(), { on: true, off: false, expired: false });

  const shown = await panel.get<{ settings: { clients: Record<string, unknown>[] } }>(
    `/panel/api/inbounds/get/${id}`,
  );
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: shown });
  t.deepEqual(await served(), { on: true, off: false, expired: false }, 'sent back');

  const [on, off] = shown.settings.clients;
  const list = [
    { ...on, enable: false },
    { ...off, enable: true },
  ];
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { settings: { clients: list } } });
  t.deepEqual(await served(), { on: false, off: true, expired: false }, 'switched, and one detached');
});
