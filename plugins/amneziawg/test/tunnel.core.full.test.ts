// Runs sidecar programs.
// Real tunnels through network namespaces: amneziawg-go on both ends, bytes through them, what clients reach, live changes.
import { testUnless } from '../../../test/harness/left-out.js';
import { FarEnd, linkOf } from './far-end.js';
import { whyNoTunnels } from './needs.js';
import {
  addTunnel,
  deviceUsage,
  type Got,
  MIB,
  reportOf,
  SERVER_BLOCK,
  untilCounted,
  untilRunning,
  untilState,
} from './tunnel-panel.js';
import { LAN, PUBLIC, SECOND, SERVER, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const WEB = 8080;

testTunnel(
  'bytes go through the tunnel, are counted, and reach the internet and nothing private',
  async (t) => {
    const world = await World.make(t);
    await world.end('net', ['serve', WEB]);
    await world.end('server', ['serve', 8081]);
    const panel = await world.panel({ WEIR_PANEL_PORT: '2053' });
    await world.end('server', ['serve', 2053, SECOND]);
    const { id, settings } = await addTunnel(panel);
    t.is(settings.server['subnetIp'], '10.8.1.0');
    await panel.addClient('ann', [id]);
    await panel.addClient('bob', [id]);
    await untilRunning(panel, id);
    await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
    await FarEnd.start(world, await world.addClient(2), await linkOf(panel, 'bob'));
    const from = (where: string, host: string, port: number, bytes: number, patience = 30_000) =>
      world.ask<Got>(where, ['get', host, port, bytes, patience]);

    const got = await from('c1', PUBLIC, WEB, 3 * MIB);
    t.deepEqual([got.bytes, got.error], [3 * MIB, '']);
    const usage = await untilCounted(panel, 'ann', ({ down }) => down >= 3 * MIB);
    t.true(usage.down < 3.3 * MIB, String(usage.down));
    t.true(usage.up > 1000 && usage.up < 0.3 * MIB, String(usage.up));
    const device = await deviceUsage(panel, 'ann');
    await untilCounted(panel, 'ann', ({ up, down }) => up === device.up && down === device.down);
    t.is((await from('c1', PUBLIC, WEB, -1)).text, `::ffff:${SERVER}`, 'its address is translated');

    // A client of the same inbound, the tunnel's own end, this machine, its network, and metadata.
    await world.end('c2', ['serve', WEB]);
    const reachable = await Promise.all(
      [
        ['10.8.1.3', WEB],
        ['10.8.1.1', 8081],
        ['192.168.77.1', 8081],
        [LAN, WEB],
        ['169.254.169.254', WEB],
        [SECOND, 2053],
      ].map(async ([host = '', port]) => [
        host,
        (await from('c1', String(host), Number(port), 1, 1500)).bytes,
      ]),
    );
    t.deepEqual(
      reachable.filter(([, bytes]) => bytes !== 0),
      [],
    );
    t.is((await from('c1', SECOND, 8081, 5)).bytes, 5, 'other servers on a public address of this machine');
    t.is((await from('net', '10.8.1.2', WEB, 1, 1500)).bytes, 0, 'nobody comes in from the network');
    t.is((await from('server', LAN, WEB, 5)).bytes, 5, 'the machine itself reaches its network');

    const { running, peers, events } = await reportOf(panel);
    t.true(running);
    const row = peers.find(({ email }) => email === 'ann');
    t.like(row, {
      inboundId: id,
      interface: `awg${id}`,
      tag: 'in-51820-udp',
      allowedIPs: '10.8.1.2/32',
      online: true,
    });
    t.regex(row?.endpoint ?? '', /^198\.51\.101\.2:\d+$/);
    t.true(Math.abs((row?.handshake ?? 0) - Date.now()) < 60_000);
    t.true(events.some((line) => line.includes('amneziawg-in-')));
    t.deepEqual(
      (await reportOf(panel, 'BOB')).peers.map(({ email }) => email),
      ['bob'],
    );
  },
);

testTunnel(
  'with private networks open, clients reach them, but not each other, and forge no address',
  async (t) => {
    const world = await World.make(t);
    await world.end('net', ['serve', WEB]);
    const panel = await world.panel({ WEIR_ENGINE_PRIVATE: 'allow' });
    const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
    // The device lets this address pass; it is not routed to the client, because it is one of this machine's network.
    await panel.addClient('ann', [id], { allowedIPs: ['10.8.1.2/32', '192.168.77.9/32'] });
    await panel.addClient('bob', [id]);
    await untilRunning(panel, id);
    const ann = await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'ann'));
    await FarEnd.start(world, await world.addClient(2), await linkOf(panel, 'bob'));
    await world.end('c2', ['serve', WEB]);
    const get = (host: string, patience = 30_000) => world.ask<Got>('c1', ['get', host, WEB, 1, patience]);
    t.is((await get(LAN)).bytes, 1);
    t.is((await world.ask<Got>('c2', ['get', PUBLIC, WEB, 1])).bytes, 1);
    t.is((await get('10.8.1.3', 2000)).bytes, 0, 'another client');
    const { result } = await world.watch('net', ['sink', 7000]);
    const own = ann.config.get('interface.address')?.split('/')[0] ?? '';
    await world.end('c1', ['packet', PUBLIC, 7000, '192.168.77.9']);
    await world.end('c1', ['packet', PUBLIC, 7000, own]);
    t.is(await result, JSON.stringify(own), 'the first that arrives is the one that is not forged');
  },
);

testTunnel('clients are added, cut and removed while others notice nothing', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', WEB]);
  const panel = await world.panel();
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  await panel.addClient('steady', [id]);
  await panel.addClient('limited', [id], { totalGB: 2 * MIB });
  await untilRunning(panel, id);
  await FarEnd.start(world, await world.addClient(1), await linkOf(panel, 'steady'));
  await FarEnd.start(world, await world.addClient(2), await linkOf(panel, 'limited'));
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 1000])).bytes, 1000);
  const handshake = async (): Promise<number> =>
    (await reportOf(panel)).peers.find(({ email }) => email === 'steady')?.handshake ?? 0;
  const before = await handshake();
  const { result: pulse } = await world.watch('c1', ['pulse', PUBLIC, WEB, 250]);

  for (const name of ['x', 'y', 'z']) await panel.addClient(name, [id]);
  t.is((await reportOf(panel)).peers.length, 5);
  await panel.get('/panel/api/clients/del/y', { method: 'POST', body: {} });
  t.deepEqual((await reportOf(panel)).peers.map(({ email }) => email).sort(), [
    'limited',
    'steady',
    'x',
    'z',
  ]);

  t.is((await world.ask<Got>('c2', ['get', PUBLIC, WEB, 3 * MIB])).bytes, 3 * MIB);
  await panel.until(
    async () => !(await reportOf(panel)).peers.some(({ email }) => email === 'limited'),
    'the client that reached its quota is removed',
  );
  t.is((await world.ask<Got>('c2', ['get', PUBLIC, WEB, 1, 2000])).bytes, 0);
  const cut = await untilCounted(panel, 'limited', ({ down }) => down >= 3 * MIB);
  t.true(cut.down < 3.3 * MIB, `once, and completely: ${cut.down}`);

  // A second inbound comes and goes.
  const other = await addTunnel(panel, { port: 51821 });
  t.is(other.settings.server['subnetIp'], '10.8.2.0');
  await untilRunning(panel, other.id);
  t.is(await panel.get(`/panel/api/inbounds/del/${other.id}`, { method: 'POST' }).then(() => ''), '');
  const tables = await world.exec('server', 'nft', ['list', 'tables']);
  t.regex(tables, new RegExp(`_awg${id}$`, 'm'));
  t.notRegex(tables, new RegExp(`_awg${other.id}$`, 'm'), 'its table went with it');
  t.notRegex(await world.exec('server', 'ip', ['-o', 'link']), new RegExp(`awg${other.id}:`));

  const { longest, failed } = JSON.parse(await pulse) as { longest: number; failed: number };
  t.is(failed, 0);
  t.true(longest < 1500, `the longest round trip of another client: ${longest} ms`);
  t.is(await handshake(), before, 'its session went on');

  // More quota: the same client again, and its bytes begin where they were.
  await panel.get('/panel/api/clients/update/limited', {
    body: { email: 'limited', totalGB: 100 * MIB, enable: true },
  });
  await panel.until(
    async () => (await reportOf(panel)).peers.some(({ email }) => email === 'limited'),
    'the client is there again',
  );
  t.is((await world.ask<Got>('c2', ['get', PUBLIC, WEB, MIB])).bytes, MIB);
  const whole = await untilCounted(panel, 'limited', ({ down }) => down >= cut.down + MIB);
  t.true(whole.down < cut.down + 1.2 * MIB, `${whole.down} after ${cut.down}`);
});

testTunnel('what stands in the way is said, and everything else goes on', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', WEB]);
  const panel = await world.panel();
  await world.end('server', ['bind', 51830]);
  const taken = await addTunnel(panel, { port: 51829, settings: { server: SERVER_BLOCK } });
  await untilRunning(panel, taken.id);
  await panel
    .get(`/panel/api/inbounds/update/${taken.id}`, {
      body: { ...(await panel.get<object>(`/panel/api/inbounds/get/${taken.id}`)), port: 51830 },
    })
    .catch((error: Error) => t.regex(error.message, /51830/));
  const outside = await addTunnel(panel, {
    port: 51831,
    settings: { server: { ...SERVER_BLOCK, externalInterface: 'eth9' } },
  });
  await untilState(panel, outside.id, /^not running: .*no interface eth9.*server\.externalInterface/);
  await untilRunning(panel, taken.id);
  const later = await addTunnel(panel, {
    port: 51832,
    settings: { server: { ...SERVER_BLOCK, rekeyAfterTime: '100-110' } },
  });
  await untilState(panel, later.id, /^not running: .*too old for rekeyAfterTime/);
  const vless = await panel.addInbound();
  t.true(vless > 0);
  const tables = await world.exec('server', 'nft', ['list', 'tables']);
  for (const { id } of [outside, later])
    t.notRegex(tables, new RegExp(`_awg${id}$`, 'm'), 'nothing is left of a tunnel that is not there');
});
