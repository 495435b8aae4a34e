// A restart that fails: what the panel does then.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../../test/harness/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };

/** A panel whose ports are settings. */
async function start(t: ExecutionContext) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const first = await ProgramPanel.start({ dataDirectory, env: ENV });
  await first.stop();
  const [webPort, subPort] = [await freePort(), await freePort()];
  await editDatabase(dataDirectory, [
    `INSERT INTO settings VALUES ('webPort', '${webPort}', 0), ('subPort', '${subPort}', 0)`,
  ]);
  const env = { ...ENV, WEIR_HOST: '', WEIR_PANEL_PORT: '', WEIR_SUB_PORT: '' };
  const panel = await ProgramPanel.start({ dataDirectory, env });
  t.teardown(() => panel.stop());
  const restart = () => panel.call('/panel/api/setting/restartPanel', { method: 'POST' });
  const serves = async (port: number) => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  return { panel, webPort, subPort, restart, serves, dataDirectory };
}

async function occupied(t: ExecutionContext) {
  const port = await freePort();
  return {
    port,
    occupy: async () => {
      const server = createServer().listen(port);
      await once(server, 'listening');
      let isOpen = true;
      const free = () => {
        if (isOpen) server.close();
        isOpen = false;
      };
      t.teardown(free);
      return free;
    },
  };
}

for (const setting of ['webPort', 'subPort'] as const)
  test(`a port that is taken when the panel restarts: it keeps the previous ports (${setting})`, async (t) => {
    const { panel, webPort, subPort, restart, serves } = await start(t);
    const next = await occupied(t);
    await panel.get('/panel/api/setting/update', { body: { [setting]: next.port } });
    const free = await next.occupy();
    t.is((await restart()).status, 202);
    const ready = () => panel.log.filter(({ msg }) => msg === 'ready').length;
    await panel.until(() => ready() === 2, 'the panel serves again');
    t.is(panel.lost, undefined);
    t.is(await serves(webPort), 200);
    t.is((await fetch(`http://127.0.0.1:${subPort}/`)).status, 404);
    t.true(panel.log.some(({ msg }) => msg.startsWith('the restart failed')));
    await panel.login();
    const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
    t.is(all[setting], next.port, 'the setting stays, for the next restart, and can be changed');
    free();
    await restart();
    await panel.until(() => ready() === 3, 'the panel started again');
    t.is(await serves(setting === 'webPort' ? next.port : webPort), 200);
  });

test('an address that is gone when the panel restarts: it keeps the previous one', async (t) => {
  const { panel, webPort, restart, serves, dataDirectory } = await start(t);
  await editDatabase(dataDirectory, [`INSERT INTO settings VALUES ('webListen', '"192.0.2.1"', 0)`]);
  t.is((await restart()).status, 202);
  await panel.until(() => panel.log.filter(({ msg }) => msg === 'ready').length === 2, 'it serves again');
  t.is(panel.lost, undefined);
  t.is(await serves(webPort), 200);
  t.true(panel.log.some(({ msg }) => msg.startsWith('the restart failed')));
});

test('a certificate that is not there is refused before the restart, and the panel serves on', async (t) => {
  const { restart, serves, webPort, dataDirectory } = await start(t);
  const config = { tlsCert: '/nowhere/cert.pem', tlsKey: '/nowhere/key.pem' };
  await writeFile(join(dataDirectory, 'weir.json'), JSON.stringify(config));
  const { status, body } = await restart();
  t.is(status, 409, body.msg);
  t.is(body.code, 'SYSTEM_WOULD_NOT_START');
  t.regex(body.msg, /nowhere/);
  t.is(await serves(webPort), 200);
});
