// WireGuard through a real core: bytes by the link, for the right client alone, and none after the client is disabled.
import test from 'ava';
import { ownIPv4 } from '../../plugins/engine/xray/test/traffic.js';
import { freePort } from '../harness/api.js';
import { until } from '../harness/until.js';
import { connect, engineOf, MIB, openPanel, openServer, poll, teardownOfFile, usageOf } from './user.js';

const shared = teardownOfFile(test);
let panel: Awaited<ReturnType<typeof openPanel>>;
let server: Awaited<ReturnType<typeof openServer>>;

/** A replacement takes sessions along, and comes at most once a second. */
const replaced = (): Promise<void> =>
  until(async () => (await engineOf(panel)).usersOnTheWay === 0, 'the inbound is replaced');

test.before(async () => {
  server = await openServer(shared, { host: ownIPv4() });
  panel = await openPanel(shared);
});

test.serial('each client is served by its link; a disabled one is cut, and the others go on', async (t) => {
  const id = await panel.addInbound({
    protocol: 'wireguard',
    port: await freePort(),
    settings: { mtu: 1400 },
  });
  await panel.addClient('alice', [id], { preSharedKey: Buffer.alloc(32, 7).toString('base64') });
  await panel.addClient('bob', [id]);
  await replaced();
  const alice = await connect(t, panel, 'alice', server);
  t.is(await alice.download(2 * MIB), 2 * MIB);
  const bob = await connect(t, panel, 'bob', server);
  t.is(await bob.download(MIB), MIB);

  // The core has no name for a peer.
  await poll(panel);
  t.is((await usageOf(panel, 'alice')).down, 0);

  await panel.get('/panel/api/clients/update/alice', { body: { enable: false } });
  await replaced();
  // New programs, as the replaced inbound knows no session of before; two with one key would take each other's packets.
  await Promise.all([alice.end(), bob.end()]);
  const late = (await connect(t, panel, 'alice', server)).start(MIB);
  const again = await connect(t, panel, 'bob', server);
  t.is(await again.download(MIB), MIB);
  t.is(late.soFar, 0);
});
