// Panels as processes: a node that is killed and comes back, and what a hundred nodes cost their central.
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { freePort, PanelProcess, selfSigned } from '../../../test/harness/index.js';
import { local, NODES, type ShownNode, STATUS, statusOf } from './world.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/xray' };
const shown = (panel: PanelProcess): Promise<ShownNode[]> => panel.get(`${NODES}/list`);

test('a node that is killed is offline, and online again when it is back, with the same guid', async (t) => {
  const port = await freePort();
  const env = { ...ENV, WEIR_PANEL_PORT: String(port) };
  const [central, first] = await Promise.all([PanelProcess.start({ env: ENV }), PanelProcess.start({ env })]);
  t.teardown(() => central.dispose());
  t.teardown(() => first.dispose());
  await central.get('/panel/api/setting/update', { body: { nodeDownThreshold: 1 } });
  const { token } = await first.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'central', kind: 'node' },
  });
  await central.get(`${NODES}/add`, { body: local(port, token, { name: 'far' }) });
  const [before] = await shown(central);
  t.is(before?.status, 'online');
  const is = (status: string) => async () => (await shown(central))[0]?.status === status;
  await first.kill('SIGKILL');
  await central.until(is('offline'), 'it is offline', 60_000);
  t.regex((await shown(central))[0]?.lastError ?? '', /nothing listens|closed the connection|ECONNRESET/);
  const second = await PanelProcess.start({ env, dataDirectory: first.dataDirectory });
  t.teardown(() => second.kill('SIGKILL'));
  await central.until(is('online'), 'it is online', 60_000);
  t.is((await shown(central))[0]?.guid, before?.guid);
  // The central is killed: what it knew is there after its next start.
  await central.kill('SIGKILL');
  const again = await PanelProcess.start({ env: ENV, dataDirectory: central.dataDirectory });
  t.teardown(() => again.kill('SIGKILL'));
  t.is((await shown(again))[0]?.guid, before?.guid);
});

test('a hundred nodes over HTTPS are asked every five seconds', async (t) => {
  const central = await PanelProcess.start({ env: ENV });
  t.teardown(() => central.dispose());
  let beats = 0;
  let bytes = 0;
  let connections = 0;
  const pair = selfSigned();
  const servers = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const answer = statusOf({ ...STATUS, panelGuid: `guid-${i}` });
      const server = createServer(pair, (request, response) => {
        if (request.url?.endsWith('/status')) beats++;
        request.resume();
        answer(request, response);
      });
      server.on('secureConnection', (socket) => {
        connections++;
        socket.on('close', () => (bytes += socket.bytesRead + socket.bytesWritten));
      });
      // As panels do.
      server.keepAliveTimeout = 65_000;
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => server.close());
      return server;
    }),
  );
  for (const [i, server] of servers.entries()) {
    const { port } = server.address() as AddressInfo;
    const body = local(port, 'token', { name: `node ${i}`, scheme: 'https', tlsVerifyMode: 'skip' });
    await central.get(`${NODES}/add`, { body });
  }
  t.true((await shown(central)).every(({ status }) => status === 'online'));
  await sleep(10_000);
  const cpu = async (): Promise<number> => {
    const [, fields = ''] = (await readFile(`/proc/${central.pid}/stat`, 'utf8')).split(') ');
    const all = fields.split(' ');
    return (Number(all[11]) + Number(all[12])) / 100;
  };
  const [cpuBefore, beatsBefore, connectionsBefore] = [await cpu(), beats, connections];
  await sleep(30_000);
  const used = ((await cpu()) - cpuBefore) / 30;
  const asked = beats - beatsBefore;
  for (const server of servers) server.closeAllConnections();
  await sleep(500);
  t.log(
    `${(used * 100).toFixed(1)} % of a core, ${asked} heartbeats in 30 s, ${connections - connectionsBefore} new connections, ${Math.round(bytes / 1024)} KiB in all since the start`,
  );
  t.true(asked >= 400 && asked <= 700, `${asked} heartbeats`);
  t.true(connections - connectionsBefore < 60, 'connections stay open');
});
