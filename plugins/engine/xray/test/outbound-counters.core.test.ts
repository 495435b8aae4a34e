// What a real core counts at its outbounds.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { openPackets } from '../../../../test/engine/socks.js';
import { baseConfig } from '../../config/base-config.js';
import { countersOf } from '../../logs/counters.js';
import type { JsonObject } from '../../driver.js';
import {
  base,
  emptyRecord,
  engineBinary,
  eventually,
  temporaryDriver,
  vlessInbound,
  vlessOutbound,
  vlessUser,
} from './harness.js';
import { download, freePort, startByteServer, startClientCore, upload } from './traffic.js';

test('an outbound has a counter before anything moves, and counts payload with its headers in both directions', async (t) => {
  const driver = await temporaryDriver(t);
  const port = await freePort();
  const user = vlessUser('i1.c1');
  const odd = { tag: 'ü >>>traffic>>>uplink', protocol: 'freedom' };
  const outbounds = [...(base['outbounds'] as JsonObject[]), odd];
  await driver.start({ outbounds }, [{ ...vlessInbound('v', port), users: [user] }], emptyRecord);
  const tags = async () => (await driver.outboundCounters()).map(({ tag }) => tag).sort();
  t.deepEqual(await tags(), ['blocked', 'direct', odd.tag]);
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const bytes = 2_000_000;
  const { socksPort } = client;
  await download({ socksPort, server, bytes });
  await upload({ socksPort, server, bytes });
  const direct = async () => (await driver.outboundCounters()).find(({ tag }) => tag === 'direct');
  await eventually(async () => ((await direct())?.up ?? 0) >= bytes, 'the counter reaches the payload');
  const { up = 0, down = 0 } = (await direct()) ?? {};
  t.true(up >= bytes && up < bytes + 1000, `up ${up}`);
  t.true(down >= bytes && down < bytes + 1000, `down ${down}`);
  const [counter] = await driver.counters('i1.');
  t.deepEqual([counter?.up, counter?.down], [up, down], 'as the user who moved all of it');
});

test('packets through an outbound of their own count once', async (t) => {
  const driver = await temporaryDriver(t);
  const port = await freePort();
  const user = vlessUser('i1.c1');
  const whole = baseConfig({
    outbounds: [],
    rules: [],
    nameServers: [],
    open: { private: 'block', udp: 'single' },
  });
  const routing = whole['routing'] as { readonly rules: readonly JsonObject[] };
  // The server of the test is on loopback, which these rules block.
  const rules = routing.rules.filter(({ outboundTag }) => outboundTag !== 'weir.blocked');
  const open: JsonObject = { ...whole, routing: { ...routing, rules } };
  await driver.start(open, [{ ...vlessInbound('v', port), users: [user] }], emptyRecord);
  const client = await startClientCore({ binary: engineBinary(), outbound: vlessOutbound(port, user) });
  t.teardown(() => client.stop());
  const echo = createSocket('udp4').bind(0, '127.0.0.1');
  t.teardown(() => echo.close());
  await once(echo, 'listening');
  echo.on('message', (message, { port: to, address }) => echo.send(message, to, address));
  const packets = await openPackets(client.socksPort);
  t.teardown(() => packets.close());
  for (let i = 0; i < 10; i++) {
    packets.send('127.0.0.1', (echo.address() as AddressInfo).port, 'x'.repeat(1000));
    await packets.next();
  }
  const read = async () => (await countersOf(driver, 'first', 'outbounds')).outbounds;
  await eventually(async () => (await read()).some(({ down }) => down >= 10_000), 'the packets are counted');
  t.deepEqual(
    await driver.outboundCounters().then((all) => all.find(({ tag }) => tag === 'weir.udp.direct')),
    {
      tag: 'weir.udp.direct',
      up: 10_000,
      down: 10_000,
    },
  );
  t.deepEqual(
    (await read()).toSorted((a, b) => (a.tag < b.tag ? -1 : 1)),
    [
      { tag: 'blocked', up: 0, down: 0 },
      { tag: 'direct', up: 10_000, down: 10_000 },
    ],
  );
});
