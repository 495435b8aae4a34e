// With a real core: a client with limitIp 1 connects from two addresses. The second one is cut, the first goes on, and so
// does another client behind the second address.
import { networkInterfaces } from 'node:os';
import { MIB, engineBinary, openPanel, openServer } from '../../../test/engine/user.js';
import type { CorePanel, Teardown } from '../../../test/engine/core-panel.js';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { Sockets } from '../../connection-cut/sockets.js';
import { type ByteServer, download, startClientCore } from '../../engine/xray/test/traffic.js';

const test = testUnless(await new Sockets().obstacle());
const RATE = MIB;
/** Far more than flows while a test runs. */
const ENDLESS = 600 * MIB;
const [FIRST, SECOND] = ['127.0.0.2', '127.0.0.3'];

/** A client program that connects from this address of loopback, by the client's link. */
async function connectFrom(
  t: Teardown,
  {
    panel,
    server,
    email,
    address,
    link = 0,
  }: {
    panel: CorePanel;
    server: ByteServer;
    email: string;
    address: string;
    link?: number;
  },
) {
  const links = await panel.get<string[]>(`/panel/api/clients/links/${email}`);
  const { outbound } = outboundOf(links[link] ?? '');
  const core = await startClientCore({
    binary: engineBinary(),
    outbound: { ...outbound, sendThrough: address },
  });
  t.teardown(core.stop);
  const { socksPort } = core;
  return () => {
    const transfer = { soFar: 0 };
    const onBytes = (soFar: number) => void (transfer.soFar = soFar);
    download({ socksPort, server, bytes: ENDLESS, rate: RATE, onBytes }).catch(() => undefined);
    return transfer;
  };
}
async function continues(panel: CorePanel, transfer: { soFar: number }, what: string): Promise<void> {
  const before = transfer.soFar;
  await panel.until(() => transfer.soFar > before + MIB / 4, what);
}

test('the second address of a client with limitIp 1 is cut on every inbound, and nobody else', async (t) => {
  const [panel, server] = [await openPanel(t), await openServer(t)];
  // The core's clients are on loopback here.
  await panel.get('/panel/api/setting/update', { body: { addressesIgnored: '' } });
  const inbounds = [
    await panel.addInbound({ streamSettings: { network: 'tcp' } }),
    await panel.addInbound({ streamSettings: { network: 'ws', wsSettings: { path: '/w' } } }),
  ];
  await panel.addClient('one', inbounds, { limitIp: 1 });
  await panel.addClient('other', inbounds, { limitIp: 1 });
  const from = (email: string, address: string, link = 0) =>
    connectFrom(t, { panel, server, email, address, link });

  const first = (await from('one', FIRST))();
  await panel.until(() => first.soFar > 0, 'the first address transfers');
  const other = (await from('other', SECOND))();
  await panel.until(() => other.soFar > 0, 'another client transfers from the second address');
  t.is(server.giving, 2);
  const seconds = [await from('one', SECOND), await from('one', SECOND, 1)];
  for (const [i, start] of seconds.entries()) {
    const second = start();
    await panel.until(() => second.soFar > 0, `inbound ${i} serves the second address`);
    await panel.until(() => server.giving === 2, `the transfer over inbound ${i} ends`);
    await continues(panel, first, 'the first address continues');
    await continues(panel, other, 'the other client continues');
  }
  const seen = await panel.get<{ ip: string }[]>('/panel/api/clients/ips/one', { method: 'POST' });
  t.deepEqual(seen.map(({ ip }) => ip).sort(), [FIRST, SECOND]);
  t.truthy(panel.said('closed connections from addresses over limitIp'));

  await panel.get('/panel/api/setting/update', { body: { ipLimitAllowlist: '127.0.0.3/32' } });
  const allowed = seconds[0]?.() ?? { soFar: 0 };
  await continues(panel, allowed, 'an address of the allowlist transfers');
  await panel.call('/panel/api/clients/ips/one', { method: 'POST' });
  await continues(panel, allowed, 'and continues');
  t.is(server.giving, 3);
});

const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
// The core leaves loopback out of what it counts.
const testOnline = testUnless(ownAddress === undefined ? 'this machine has no address but loopback' : '');

testOnline('an open connection is seen without a new line in the log, as the core counts it', async (t) => {
  const [panel, server] = [await openPanel(t), await openServer(t)];
  const inbound = await panel.addInbound();
  await panel.addClient('quiet', [inbound], { limitIp: 1 });
  await panel.addClient('free', [inbound]);
  const address = ownAddress ?? '';
  const transfers: { soFar: number }[] = [];
  for (const email of ['quiet', 'free'])
    transfers.push((await connectFrom(t, { panel, server, email, address }))());
  await panel.until(() => transfers.every(({ soFar }) => soFar > 0), 'both transfer');
  const ips = async (email: string): Promise<string[]> =>
    (await panel.get<{ ip: string }[]>(`/panel/api/clients/ips/${email}`, { method: 'POST' })).map(
      ({ ip }) => ip,
    );
  for (const email of ['quiet', 'free']) {
    t.deepEqual(await ips(email), [address]);
    await panel.call(`/panel/api/clients/clearIps/${email}`, { method: 'POST' });
    t.deepEqual(await ips(email), []);
  }
  await panel.call('/panel/api/system/jobs/addresses/online', { method: 'POST' });
  t.deepEqual(await ips('quiet'), [address]);
  t.deepEqual(await ips('free'), [], 'no call is spent on a client without a limit');
});
