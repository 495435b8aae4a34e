// Runs nftables.
// What a ban lets through: packets between two network namespaces.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ExecutionContext } from 'ava';
import { testUnless } from '../../../test/harness/left-out.js';
import type { BanScope } from '../contract.js';
import { NftablesDriver } from '../nftables/driver.js';
import { OwnNetwork, whyNoNetworks } from './own-network.js';

const test = testUnless(await whyNoNetworks());
const [PROXY, PANEL, SSH] = [8443, 2053, 22];
const SERVE = `for (const port of [${PROXY}, ${PANEL}, ${SSH}])
  require('net').createServer((socket) => socket.end('hello')).listen(port, '::', () => console.log('ready'));
require('dgram').createSocket('udp6', function (message, from) { this.send('hello', from.port, from.address); }).bind(${PROXY});`;
const TRY = `const [kind, from, to, port] = process.argv.slice(1);
const end = (text) => { console.log(text); process.exit(); };
setTimeout(() => end('nothing'), 700);
if (kind === 'tcp') {
  const socket = require('net').connect({ host: to, port: Number(port), localAddress: from });
  socket.on('data', (data) => end(String(data))).on('error', ({ code }) => end(code));
} else {
  const socket = require('dgram').createSocket(to.includes(':') ? 'udp6' : 'udp4', (data) => end(String(data)));
  socket.bind(0, from, () => socket.send('x', Number(port), to));
}`;
const V4 = { to: '203.0.113.1', from: ['203.0.113.2', '203.0.113.3'] } as const;
/** Two of a /64, and one of another. */
const V6 = { to: '2001:db8:9::1', from: ['2001:db8:9:1::2', '2001:db8:9:1::3', '2001:db8:9:2::2'] } as const;

async function world(t: ExecutionContext) {
  const [server, client] = [await OwnNetwork.make(t), await OwnNetwork.make(t)];
  await server.exec('ip', 'link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'out', 'netns', client.name);
  for (const [{ exec, name }, addresses] of [
    [server, [`${V4.to}/24`, `${V6.to}/48`]],
    [client, [...V4.from.map((one) => `${one}/24`), ...V6.from.map((one) => `${one}/48`)]],
  ] as const) {
    const ip = (...args: string[]) => exec.call({ name } as OwnNetwork, 'ip', ...args);
    for (const address of addresses)
      await ip('address', 'add', address, 'dev', 'out', ...(address.includes(':') ? ['nodad'] : []));
    await ip('link', 'set', 'out', 'up');
  }
  const serve = spawn('ip', ['netns', 'exec', server.name, process.execPath, '-e', SERVE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => serve.kill('SIGKILL'));
  await once(serve.stdout, 'data');
  const reach = async (kind: 'tcp' | 'udp', from: string, port: number): Promise<string> => {
    const to = from.includes(':') ? V6.to : V4.to;
    return (await client.exec(process.execPath, '-e', TRY, kind, from, to, String(port))).trim();
  };
  const driver = new NftablesDriver({ dataDirectory: '/data' }, server.run);
  await driver.prepare({ open: [SSH, PANEL], panel: [PANEL] });
  const ban = (address: string, scope: BanScope = 'proxy', seconds = 600) =>
    driver.ban([{ address, scope, seconds, email: '', reason: 'limitIp' }]);
  return { driver, reach, ban };
}

test('a ban closes all ports but those of ssh and the panel, for that address alone', async (t) => {
  const { driver, reach, ban } = await world(t);
  const [banned, other] = V4.from;
  t.is(await reach('tcp', banned, PROXY), 'hello');
  await ban(banned);
  t.is(await reach('tcp', banned, PROXY), 'nothing');
  t.is(await reach('udp', banned, PROXY), 'nothing');
  t.is(await reach('tcp', banned, 9), 'nothing', 'nor a port on which nobody listens');
  t.is(await reach('tcp', banned, SSH), 'hello');
  t.is(await reach('tcp', banned, PANEL), 'hello');
  t.is(await reach('tcp', other, PROXY), 'hello');
  t.is(await reach('udp', other, PROXY), 'hello');
  await driver.unban([{ address: banned, scope: 'proxy' }]);
  t.is(await reach('tcp', banned, PROXY), 'hello');
});

test('of IPv6 the whole /64 is banned, and no other', async (t) => {
  const { reach, ban } = await world(t);
  await ban('2001:db8:9:1::');
  const [first, second, other] = V6.from;
  for (const address of [first, second]) t.is(await reach('tcp', address, PROXY), 'nothing', address);
  t.is(await reach('udp', first, PROXY), 'nothing');
  t.is(await reach('tcp', first, PANEL), 'hello');
  t.is(await reach('tcp', other, PROXY), 'hello');
});

test('a ban from the panel closes its ports alone', async (t) => {
  const { reach, ban } = await world(t);
  await ban(V4.from[0], 'panel');
  t.is(await reach('tcp', V4.from[0], PANEL), 'nothing');
  t.is(await reach('tcp', V4.from[0], PROXY), 'hello');
  t.is(await reach('tcp', V4.from[0], SSH), 'hello');
});

test('a ban ends by itself, without a panel', async (t) => {
  const { driver, reach, ban } = await world(t);
  await ban(V4.from[0], 'proxy', 2);
  t.is(await reach('tcp', V4.from[0], PROXY), 'nothing');
  await new Promise((resolve) => setTimeout(resolve, 1800));
  t.is(await reach('tcp', V4.from[0], PROXY), 'hello');
  t.deepEqual(await driver.banned(), []);
});
