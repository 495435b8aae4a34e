// Calls of the panel through an outbound of a real core, which leads to a SOCKS server of the test.
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { contribute, definePlugin, tap } from '../../../kernel/index.js';
import { engineBinary } from '../../../test/engine/user.js';
import { refused, TestPanel, until } from '../../../test/harness/index.js';
import { composeCoreConfig, Engine, type EngineApi } from '../../engine/contract.js';
import { Outgoing, type OutgoingAccess, type OutgoingFetch, OutgoingHosts } from '../../outgoing/contract.js';

const UPDATE = '/panel/api/setting/update';
const HOST = 'public.example.com';

/** Answers each request as the host that it was asked for, and remembers what it was asked. */
async function socksServer(t: ExecutionContext): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const talk = async (socket: Socket): Promise<void> => {
    const next = async (): Promise<Buffer> => (await once(socket, 'data'))[0] as Buffer;
    await next();
    socket.write(Buffer.from([5, 0]));
    const request = await next();
    const length = request[4] ?? 0;
    const host = request[3] === 3 ? request.subarray(5, 5 + length).toString() : 'an address';
    asked.push(`${host}:${request.readUInt16BE(request.length - 2)}`);
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    await next();
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nthrough');
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    void talk(socket).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

/** A plugin that calls, and one outbound that can be removed. */
function caller(port: number) {
  const access: OutgoingAccess = { hosts: [HOST, '127.0.0.1'], limits: { wholeMs: 8_000 } };
  const world = {
    hasOutbound: true,
    fetch: undefined as OutgoingFetch | undefined,
    engine: undefined as EngineApi | undefined,
  };
  const plugin = definePlugin({
    name: 'caller',
    version: '1.0.0',
    api: 1,
    about: 'Calls.',
    uses: { outgoing: Outgoing, engine: Engine },
    contributes: () => [contribute(OutgoingHosts, access)],
    taps: () => [
      tap(composeCoreConfig, (add) => {
        const servers = [{ address: '127.0.0.1', port }];
        if (world.hasOutbound) add({ outbound: { tag: 'far', protocol: 'socks', settings: { servers } } });
      }),
    ],
    start: ({ outgoing, engine }) => {
      world.fetch = outgoing.for(access);
      world.engine = engine;
    },
  });
  const call = async (host = HOST): Promise<string> => {
    try {
      return (await (await world.fetch?.(`http://${host}/`))?.text()) ?? '';
    } catch (error) {
      return `failed: ${(error as Error).message}`;
    }
  };
  return { plugin, world, call };
}

test('calls of plugins leave by the outbound, by name, and by no other way when it is removed', async (t) => {
  const { port, asked } = await socksServer(t);
  const { plugin, world, call } = caller(port);
  await using panel = await TestPanel.boot({
    plugins: [plugin],
    env: { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' },
  });
  await until(() => world.engine?.status().state === 'running', 'the core runs');
  t.regex(await call(), /^failed: .*public\.example\.com/, 'directly it is not there');
  t.deepEqual(asked, []);

  await panel.get(UPDATE, { body: { panelOutbound: 'far' } });
  t.is(await call(), 'through');
  t.deepEqual(asked, [`${HOST}:80`]);
  await refused(
    t,
    panel,
    UPDATE,
    { body: { panelOutbound: 'fra' } },
    { status: 400, code: 'PANEL_OUTBOUND_NO_OUTBOUND', field: 'panelOutbound', says: 'there are ' },
  );

  // Nothing at an address of this machine is looked for elsewhere.
  t.regex(await call('127.0.0.1'), /WEIR_OUTGOING_ALLOW/);
  t.is(asked.length, 1);

  // Neither the inbound nor its port is open to others.
  const config = await panel.get<{
    inbounds: { tag: string; port: number; listen: string; settings: { auth: string } }[];
  }>('/panel/api/server/getConfigJson');
  const own = config.inbounds.find(({ tag }) => tag === 'panel-outbound');
  t.is(own?.listen, '127.0.0.1');
  t.is(own?.settings.auth, 'password');

  world.hasOutbound = false;
  await world.engine?.reconcileConfig();
  t.regex(await call(), /^failed: /);
  t.is(asked.length, 1);

  // Without a core there is only the direct way.
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.regex(await call(), /ENOTFOUND|EAI_AGAIN/);
  await call();
  t.is(panel.log.filter((line) => line.includes('calls other machines directly')).length, 1);

  await panel.get(UPDATE, { body: { panelOutbound: '' } });
  t.regex(await call(), /ENOTFOUND|EAI_AGAIN/);
});

test('after a restart of the panel calls still leave by the outbound, and a rule for all traffic does not take them', async (t) => {
  const { port, asked } = await socksServer(t);
  const other = await socksServer(t);
  const first = caller(port);
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' };
  const before = await TestPanel.boot({ plugins: [first.plugin], env });
  t.teardown(() => before[Symbol.asyncDispose]());
  await until(() => first.world.engine?.status().state === 'running', 'the core runs');
  const engineSetting = {
    outbounds: [
      { tag: 'direct', protocol: 'freedom' },
      {
        tag: 'other',
        protocol: 'socks',
        settings: { servers: [{ address: '127.0.0.1', port: other.port }] },
      },
    ],
    routing: { rules: [{ type: 'field', network: 'tcp,udp', outboundTag: 'other' }] },
  };
  await before.get('/panel/api/engine/update', { body: { engineSetting } });
  await before.get(UPDATE, { body: { panelOutbound: 'far' } });
  const account = async (panel: TestPanel): Promise<string> => {
    type Config = { inbounds: { tag: string; settings: { accounts: { pass: string }[] } }[] };
    const { inbounds } = await panel.get<Config>('/panel/api/server/getConfigJson');
    return inbounds.find(({ tag }) => tag === 'panel-outbound')?.settings.accounts[0]?.pass ?? '';
  };
  const old = await account(before);
  await before.stop();

  const { plugin, world, call } = caller(port);
  await using panel = await TestPanel.boot({ plugins: [plugin], env, dataDirectory: before.dataDirectory });
  await until(() => world.engine?.status().state === 'running', 'the core runs');
  t.is(await call(), 'through');
  t.deepEqual(asked, [`${HOST}:80`]);
  t.not(await account(panel), old);
  world.hasOutbound = false;
  await world.engine?.reconcileConfig();
  t.regex(await call(), /^failed: /);
  t.deepEqual(other.asked, [], 'the rule for all traffic does not take them');
});
