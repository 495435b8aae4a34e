// Through a real tunnel: a user of a panel with a real core reaches a server by the outbound of a provider's server.
import test from 'ava';
import { ownIPv4 } from '../../engine/xray/test/traffic.js';
import { connect, MIB, openPanel, openServer } from '../../../test/engine/user.js';
import { openFarEnd } from '../../../test/engine/wireguard-far-end.js';
import { x25519PublicKey } from '../../keygen/contract.js';
import { NordApi, serverOf, TOKEN } from './nord-api.js';

const ENGINE = '/panel/api/engine';
/** The port of the provider is fixed, so the address is one that no other test has. */
const STATION = '127.53.20.81';

test('a user is led through the server that is applied', async (t) => {
  const api = new NordApi();
  const farEnd = await openFarEnd(t, {
    peer: x25519PublicKey(Buffer.from(api.key, 'base64')).toString('base64'),
    addresses: ['10.5.0.2/32'],
    host: STATION,
    port: 51_820,
  });
  api.servers = [{ ...serverOf(1, 30, farEnd.publicKey), station: STATION }];
  const panel = await openPanel(t);
  const server = await openServer(t, { host: ownIPv4() });
  await panel.addClient('a', [await panel.addInbound()]);
  const user = await connect(t, panel, 'a', server);
  await panel.get(`${ENGINE}/vpnprovider/reg`, { body: { token: TOKEN } });
  const { servers } = JSON.parse(
    await panel.get<string>(`${ENGINE}/vpnprovider/servers`, { body: { countryId: 81 } }),
  ) as { servers: object[] };
  const { tag } = await panel.get<{ tag: string }>('/panel/api/x/vpnprovider/apply', {
    body: { server: servers[0] },
  });
  const template = JSON.parse(
    (await panel.get<{ engineSetting: string }>(`${ENGINE}/`, { method: 'POST' })).engineSetting,
  ) as { routing: { rules: object[] } };
  template.routing.rules.push({ type: 'field', port: String(server.port), outboundTag: tag });
  await panel.get(`${ENGINE}/update`, { body: { engineSetting: template } });
  t.is(await user.download(MIB), MIB);
  t.is(farEnd.connections(server.port), 1);
});
