// A panel that is killed at any moment while a proxy moves bytes: all of them count, and none twice.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { freePort } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { processesBelow } from '../../processes/test/world.js';
import type { SidecarStatus } from '../../sidecars/contract.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.js', import.meta.url));
const KILLS = 5;

test('kill -9 of the panel, again and again, while bytes move and users change', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mtg-'));
  const program = join(folder, 'mtg-multi');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${STAND_IN}' "$@"\n`);
  await chmod(program, 0o755);
  const env = { WEIR_MTG_BIN: program, WEIR_ENGINE_INSTALL: 'off', WEIR_ENGINE_BIN: '' };
  let panel = await PanelProcess.start({ env });
  const { dataDirectory } = panel;
  t.teardown(async () => {
    await panel.kill('SIGKILL');
    for (const pid of await processesBelow(join(dataDirectory, 'processes'))) process.kill(pid, 'SIGKILL');
    for (const path of [dataDirectory, folder])
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
  });
  const inboundId = await panel.addInbound({ protocol: 'mtproto', port: await freePort(), settings: {} });
  const status = async (): Promise<SidecarStatus | undefined> =>
    (await panel.get<SidecarStatus[]>('/panel/api/x/sidecars'))[0];
  const runs = async (): Promise<boolean> => (await status())?.state === 'running';
  await panel.until(runs, 'it runs');
  const { pid, ports } = (await status()) ?? {};
  const { id } = await panel.addClient('ann', [inboundId]);
  let moved = 0;
  const move = async (): Promise<void> => {
    const name = `i${inboundId}.c${id}`;
    const body = JSON.stringify({ name, bytes_in: 10, bytes_out: 20 });
    await fetch(`http://127.0.0.1:${ports?.['api']}/move`, { method: 'POST', body });
    moved += 1;
  };
  let goesOn = true;
  const moving = (async () => {
    for (; goesOn; await sleep(20)) await move();
  })();
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(1000 + kill * 1100);
    // What was killed halfway is done by the next panel.
    void panel.addClient(`other-${kill}`, [inboundId]).catch(() => undefined);
    await sleep(kill * 7);
    await panel.kill('SIGKILL');
    await sleep(200);
    panel = await PanelProcess.start({ env, dataDirectory });
    await panel.until(runs, 'it is adopted');
    t.is((await status())?.pid, pid);
  }
  goesOn = false;
  await moving;
  const usage = () => panel.get<{ up: number; down: number }>('/panel/api/clients/traffic/ann');
  await panel.until(async () => (await usage()).up >= moved * 10, 'all is counted');
  await sleep(6000);
  t.like(await usage(), { up: moved * 10, down: moved * 20 }, 'nothing twice');
  const clients = await panel.get<{ email: string }[]>('/panel/api/clients/list');
  const reply = await fetch(`http://127.0.0.1:${ports?.['api']}/calls`);
  const { secrets } = (await reply.json()) as { secrets: unknown[] };
  t.is(secrets.length, clients.length + 1, 'the program has the users that the panel has');
});
