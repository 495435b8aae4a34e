// Runs sidecar programs.
// What stays on the machine when things go wrong: rules, routes and interfaces of a tunnel whose panel was killed, whose
// plugin is off, or that cannot be set up again.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testUnless } from '../../../test/harness/left-out.js';
import { FarEnd, linkOf } from './far-end.js';
import { whyNoTunnels } from './needs.js';
import { addTunnel, type Got, SERVER_BLOCK, untilRunning, untilState } from './tunnel-panel.js';
import { LAN, PUBLIC, World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());
const WEB = 8080;

testTunnel('a plugin that is switched off, after a kill -9 of the panel too, leaves no rules', async (t) => {
  const world = await World.make(t);
  const first = await world.panel();
  const { id } = await addTunnel(first, { settings: { server: SERVER_BLOCK } });
  await untilRunning(first, id);
  const config = join(first.dataDirectory, 'weir.json');
  const tables = () => world.exec('server', 'nft', ['list', 'tables']);
  await first.kill('SIGKILL');
  t.regex(await tables(), /weir_[0-9a-f]{6}_awg/, 'the tunnel goes on with its rules');
  await writeFile(config, JSON.stringify({ plugins: { amneziawg: false } }));
  const second = await world.panel({}, first.dataDirectory);
  await second.until(async () => (await tables()) === '', 'the rules are removed');
  t.notRegex(await world.exec('server', 'ip', ['-o', 'link']), /awg\d/);
  await second.kill('SIGTERM');

  // The same by the API: the panel restarts in its own process.
  await writeFile(config, '{}');
  const third = await world.panel({}, first.dataDirectory);
  await untilRunning(third, id);
  await third.get('/panel/api/system/plugins/amneziawg', { body: { enable: false } });
  await third.until(async () => (await tables()) === '', 'the rules are removed', 40_000);
  await third.kill('SIGTERM');
});

testTunnel('a tunnel that cannot be adopted lets nothing pass without its rules', async (t) => {
  const world = await World.make(t);
  await world.end('net', ['serve', WEB]);
  const first = await world.panel();
  await world.exec('server', 'ip', ['link', 'add', 'second', 'type', 'veth', 'peer', 'name', 'other']);
  const { id } = await addTunnel(first, {
    settings: {
      server: {
        ...SERVER_BLOCK,
        ipv6Enabled: true,
        ipv6Subnet: 'fd00:8::/64',
        ipv6ExternalInterface: 'second',
      },
    },
  });
  await first.addClient('ann', [id]);
  await untilRunning(first, id);
  await FarEnd.start(world, await world.addClient(1), await linkOf(first, 'ann'));
  t.is((await world.ask<Got>('c1', ['get', PUBLIC, WEB, 5])).bytes, 5);
  await first.kill('SIGKILL');
  await world.exec('server', 'ip', ['link', 'del', 'second']);
  const second = await world.panel({}, first.dataDirectory);
  await untilState(second, id, /^not running: .*no interface second/);
  const table = await world.exec('server', 'nft', ['list', 'tables']);
  const [link = ''] = (await world.exec('server', 'ip', ['-o', 'link'])).match(/awg\d+: <[^>]*>/) ?? [];
  t.true(table !== '' || !/[<,]UP[,>]/.test(link), `${link} without rules`);
  t.is((await world.ask<Got>('c1', ['get', LAN, WEB, 1, 1500])).bytes, 0);
});

testTunnel(
  'routes of the machine stay its own: those that a client names, and those in a pool',
  async (t) => {
    const world = await World.make(t);
    const panel = await world.panel();
    const routes = async (): Promise<string> =>
      (await world.exec('server', 'ip', ['-4', 'route', 'show'])).replaceAll(/ +$/gm, '');
    for (const network of ['10.50.0.0/16', '10.8.7.64/26'])
      await world.exec('server', 'ip', ['route', 'add', network, 'via', '192.168.77.2']);
    const before = await routes();
    const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
    await untilRunning(panel, id);
    await panel.addClient('ann', [id], { allowedIPs: ['10.8.1.2/32', '10.50.0.0/16', '10.60.0.0/24'] });
    t.regex(await routes(), /^10\.60\.0\.0\/24 dev awg/m);
    t.regex(await routes(), /^10\.50\.0\.0\/16 via 192\.168\.77\.2/m);
    await panel.get('/panel/api/clients/del/ann', { body: {} });
    t.is((await routes()).replace(/^10\.8\.1\.0\/24.*\n/m, ''), before);
    const inPool = await addTunnel(panel, {
      port: 51_821,
      settings: { server: { ...SERVER_BLOCK, subnetIp: '10.8.7.0' } },
    });
    await untilState(panel, inPool.id, /^not running: .*has a route to 10\.8\.7\.64\/26/);
  },
);
