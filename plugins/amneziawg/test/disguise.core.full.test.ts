// Runs sidecar programs.
// Every field of the disguise, forwarded ports, ways out and IPv6, through real tunnels.
import { testUnless } from '../../../test/harness/left-out.js';
import { ControlSocket, socketOf } from '../control-socket.js';
import { FarEnd, linkOf } from './far-end.js';
import { whyNoTunnels } from './needs.js';
import { addTunnel, type Got, MIB, reportOf, SERVER_BLOCK, untilRunning } from './tunnel-panel.js';
import { PUBLIC, SECOND, SERVER, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const WEB = 8080;

const WHOLE = {
  ...{ jc: 7, jmin: 50, jmax: 50, s1: 147, s2: 149, s3: 61, s4: 23 },
  ...{ h1: '5-9', h2: '1000-2000', h3: 4_000_000_000, h4: '70000-80000' },
  i1: '<b 0xc0ff><r 40><t>',
  i2: '<rc 12>',
  i3: '<rd 9><c>',
  i4: '<r 1>',
  i5: '<b 0x00>',
  mtu: 1300,
};

testTunnel(
  'every field of the disguise is carried by both ends, and a wrong one gets no answer',
  async (t) => {
    const world = await World.make(t);
    await world.end('net', ['serve', WEB]);
    const panel = await world.panel();
    const { id } = await addTunnel(panel, { settings: { server: WHOLE } });
    await panel.addClient('ann', [id]);
    await untilRunning(panel, id);
    const end = await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
    t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 2 * MIB])).bytes, 2 * MIB);
    const { settings } = await end.state();
    const { mtu, ...disguise } = WHOLE;
    for (const [name, value] of Object.entries(disguise))
      t.is(settings.get(name), name === 'jmax' ? '51' : String(value), name);
    t.regex(await world.exec('server', 'ip', ['link', 'show', 'dev', `awg${id}`]), new RegExp(`mtu ${mtu} `));

    await new ControlSocket(socketOf(end.device)).set([
      ...Object.entries({ ...disguise, h1: '10-20' }).map(([name, value]) => `${name}=${value}`),
    ]);
    const peer = [...(await end.state()).peers.keys()][0] ?? '';
    const other = new ControlSocket(socketOf(end.device));
    await other.set([`public_key=${peer}`, 'remove=true']);
    await other.set([`public_key=${peer}`, `endpoint=${SERVER}:51820`, 'allowed_ip=0.0.0.0/0']);
    t.is(
      (await world.ask<Got>('c1', ['get', PUBLIC, WEB, 1, 3000])).bytes,
      0,
      'another type of the first message',
    );
  },
);

testTunnel('ports of this machine lead to clients, except those on which it listens', async (t) => {
  const world = await World.make(t);
  await world.end('server', ['serve', 8022]);
  const panel = await world.panel();
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  await panel.addClient('ann', [id], { forwardedPorts: '8022,8080,9000-9005' });
  await untilRunning(panel, id);
  await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
  for (const port of [8080, 9004]) await world.end('c1', ['serve', port]);
  await world.ask<Got>('c1', ['get', PUBLIC, 1, 1, 1000]);
  const from = async (port: number): Promise<Got> => world.ask<Got>('net', ['get', SECOND, port, -1, 3000]);
  t.is((await from(8080)).text, `::ffff:${PUBLIC}`, 'it sees who calls');
  t.true((await from(9004)).bytes > 0);
  t.true((await from(8022)).bytes > 0, 'the server itself answers');
  t.is((await from(9006)).bytes, 0);
  await panel.get('/panel/api/clients/update/ann', { body: { email: 'ann', forwardedPorts: '9004' } });
  await panel.until(async () => (await from(8080)).bytes === 0, 'the port leads nowhere');
  await panel.addClient('bob', [id], { forwardedPorts: '9000-9100' });
  t.true(
    panel.log.some(({ msg, ports }) => msg.includes('forwarded to another client') && ports === '9000-9100'),
  );
});

testTunnel('IPv6 goes through the tunnel, and the way out can be named', async (t) => {
  const world = await World.make(t);
  await world.exec('server', 'ip', ['address', 'add', '2001:db8:1::2/64', 'dev', 'ext', 'nodad']);
  await world.exec('server', 'ip', ['route', 'add', 'default', 'via', '2001:db8:1::1']);
  await world.exec('net', 'ip', ['address', 'add', '2001:db8:1::1/64', 'dev', 's', 'nodad']);
  await world.end('net', ['serve', WEB]);
  const panel = await world.panel();
  const { id } = await addTunnel(panel, {
    settings: {
      server: { ...SERVER_BLOCK, ipv6Enabled: true, ipv6Subnet: 'fd00:8::/64', externalInterface: 'ext' },
    },
  });
  await panel.addClient('ann', [id], { allowedIPs: ['10.8.1.2/32', 'fd00:8::2/128'] });
  await untilRunning(panel, id);
  const end = await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
  t.is(end.config.get('interface.address'), '10.8.1.2/32, fd00:8::2/128');
  t.is((await world.ask<Got>('c1', ['get', '2001:db8:1::1', WEB, -1])).text, '2001:db8:1::2');
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, -1])).text, `::ffff:${SERVER}`);
  t.is((await world.ask<Got>('c1', ['get', 'fd00:8::1', WEB, 1, 1500])).bytes, 0);
  t.true((await reportOf(panel)).peers[0]?.online);
});
