// A tunnel and a network interface through a real core: bytes, what they may reach, and what nobody counts.
import test from 'ava';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { networkInterfaces } from 'node:os';
import { freePort } from '../harness/api.js';
import { testUnless } from '../harness/left-out.js';
import { until } from '../harness/until.js';
import { MIB, openPanel, openServer, poll, teardownOfFile } from './user.js';

/** Why this process cannot make a network interface; empty when it can. */
async function noInterface(): Promise<string> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '');
  const rights = BigInt(`0x${/^CapEff:\s*([\da-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  // capabilities(7): CAP_NET_ADMIN is 12
  if ((rights & (1n << 12n)) === 0n) return 'it needs CAP_NET_ADMIN';
  return access('/dev/net/tun', constants.R_OK | constants.W_OK).then(
    () => '',
    () => 'it needs /dev/net/tun',
  );
}
const withInterface = testUnless(await noInterface());

const shared = teardownOfFile(test);
let panel: Awaited<ReturnType<typeof openPanel>>;
let server: Awaited<ReturnType<typeof openServer>>;
test.before(async () => {
  server = await openServer(shared);
  panel = await openPanel(shared);
});

/** Downloads from a port of this machine; resolves with the bytes that came before the end of the connection. */
async function bytesFrom(port: number, bytes: number): Promise<number> {
  const request = httpGet({ host: '127.0.0.1', port, path: `/?bytes=${bytes}`, agent: false });
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    let came = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) came += chunk.length;
    return came;
  } catch {
    return 0;
  }
}
interface Added {
  readonly id: number;
}
const add = (body: object) =>
  panel.call<Added>('/panel/api/inbounds/add', { body: { listen: '127.0.0.1', ...body } });

test.serial('a tunnel carries bytes to its destination, and says that nobody counts them', async (t) => {
  const port = await freePort();
  const { body } = await add({
    protocol: 'tunnel',
    port,
    settings: { rewriteAddress: '127.0.0.1', rewritePort: server.port, allowedNetwork: 'tcp' },
  });
  t.is(body.msg, 'inbound added; the core does not count what passes through a tunnel');
  t.is(await bytesFrom(port, MIB), MIB);
  await poll(panel);
  t.like(await panel.get(`/panel/api/inbounds/get/${body.obj.id}`), { up: 0, down: 0 });

  // Another destination, by the map of ports: it goes before.
  const settings = {
    portMap: { [port]: `127.0.0.1:${await freePort()}` },
    rewriteAddress: '127.0.0.1',
    rewritePort: server.port,
  };
  await panel.get(`/panel/api/inbounds/update/${body.obj.id}`, { body: { settings } });
  t.is(await bytesFrom(port, MIB), 0);
});

test.serial('no clients can be attached to a tunnel', async (t) => {
  const { body } = await add({
    protocol: 'tunnel',
    port: await freePort(),
    settings: { followRedirect: true },
  });
  const inboundIds = [body.obj.id];
  const answer = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'nobody' }, inboundIds },
  });
  t.is(answer.status, 422);
  t.regex(answer.body.msg, /a tunnel has no users/);
});

test.serial('a tunnel does not lead into the panel', async (t) => {
  const { port: own } = panel.kernel.listeners.panel;
  for (const settings of [
    { rewriteAddress: '127.0.0.1', rewritePort: own },
    { address: 'localhost', port: own },
    { portMap: { 443: `127.0.0.1:${own}` } },
    { portMap: { 443: `:${own}` } },
    { rewriteAddress: '127.0.0.1', portMap: { 443: `:${own}` } },
    { rewriteAddress: '::1', rewritePort: own },
    { portMap: { 443: '127.0.0.1:' }, rewritePort: own },
  ]) {
    const answer = await add({ protocol: 'tunnel', port: await freePort(), settings });
    t.is(answer.status, 400, JSON.stringify(settings));
    t.is(answer.body.code, 'KERNEL_INVALID');
  }
});

withInterface('an interface of this machine appears, follows an edit, and goes', async (t) => {
  const name = `weir${process.pid}`.slice(0, 15);
  const has = (wanted: string) => Object.keys(networkInterfaces()).includes(wanted);
  const { body, status, text } = await add({
    protocol: 'tun',
    port: 0,
    settings: { name, mtu: 1400, gateway: ['10.9.0.1/24'], dns: [] },
  });
  t.is(status, 200, text);
  t.regex(body.msg, /counts nothing of it.*gateway are stored, and this core does not read them/);
  await until(() => has(name), 'the interface is there');
  const update = await panel.call(`/panel/api/inbounds/update/${body.obj.id}`, {
    body: { settings: { name, mtu: 1300 } },
  });
  await until(() => has(name), 'it is there again');
  t.is(update.status, 200, update.text);
  t.notRegex(update.body.msg, /does not have it yet/);
  await panel.get(`/panel/api/inbounds/del/${body.obj.id}`, { method: 'POST' });
  await until(() => !has(name), 'the interface is gone');
});
