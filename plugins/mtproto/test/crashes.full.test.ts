// Panel, program or both are killed at random moments of edits: nothing is counted twice, and in the end program and
// database agree and nothing is left over.
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../../test/harness/index.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random as seeded } from '../../../test/harness/random.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { processesBelow } from '../../processes/test/world.js';
import type { SidecarStatus } from '../../sidecars/contract.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.js', import.meta.url));
const KILLS = 10;
type Inbound = { readonly state: string; readonly port: number } & Record<string, unknown>;

async function run(t: ExecutionContext, kills: readonly ('panel' | 'program' | 'both')[], seed: number) {
  const { below: random } = seeded(seed);
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
  const ports = [await freePort(), await freePort()];
  const inboundId = await panel.addInbound({ protocol: 'mtproto', port: ports[0], settings: {} });
  const status = async (): Promise<SidecarStatus | undefined> =>
    (await panel.get<SidecarStatus[]>('/panel/api/x/sidecars'))[0];
  const inbound = () => panel.get<Inbound>(`/panel/api/inbounds/get/${inboundId}`);
  const edit = async (fields: object): Promise<unknown> =>
    panel.call(`/panel/api/inbounds/update/${inboundId}`, { body: { ...(await inbound()), ...fields } });
  const { id } = await panel.addClient('ann', [inboundId]);
  await panel.until(async () => (await status())?.state === 'running', 'it runs');
  const api = { port: (await status())?.ports['api'] };
  const moved = { count: 0 };
  const move = async (): Promise<void> => {
    const body = JSON.stringify({ name: `i${inboundId}.c${id}`, bytes_in: 10, bytes_out: 20 });
    try {
      await fetch(`http://127.0.0.1:${api.port}/move`, { method: 'POST', body });
      moved.count += 1;
    } catch {
      // It does not run now.
    }
  };
  const clients = ['bob', 'cid', 'dan'];
  const edits: (() => Promise<unknown>)[] = [
    () => panel.addClient(clients[random(3)] ?? '', [inboundId]),
    () => panel.call(`/panel/api/clients/del/${clients[random(3)]}`, { body: {} }),
    () =>
      panel.call(`/panel/api/clients/update/${clients[random(3)]}`, { body: { enable: random(2) === 0 } }),
    // At its quota from the beginning.
    () => panel.addClient(clients[random(3)] ?? '', [inboundId], { totalGB: 1 }),
    () => edit({ enable: false }).then(() => edit({ enable: true })),
    () => edit({ port: ports[random(2)] }),
  ];
  const OF_USERS = 4;
  // What moves between the last reading and the end of a process that is stopped is lost; here nothing does.
  let pauses = 0;
  let goesOn = true;
  const moving = (async () => {
    for (; goesOn; await sleep(10)) if (pauses === 0) await move();
  })();
  for (const kill of kills) {
    const editing = (async () => {
      for (let i = 0; i < 3; i++) {
        const which = random(edits.length);
        if (which >= OF_USERS) {
          pauses += 1;
          await sleep(100);
        }
        await edits[which]?.().catch(() => undefined);
      }
    })();
    await sleep(random(600));
    if (kill !== 'program') await panel.kill('SIGKILL');
    if (kill !== 'panel')
      for (const pid of await processesBelow(join(dataDirectory, 'processes'))) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    await editing;
    if (kill !== 'program') panel = await PanelProcess.start({ env, dataDirectory });
    await edit({ enable: true }).catch(() => undefined);
    await panel.until(async () => (await status())?.state === 'running', 'it runs again', 60_000);
    api.port = (await status())?.ports['api'];
    pauses = 0;
  }
  goesOn = false;
  await moving;
  await sleep(11_000);
  const usage = await panel.get<{ up: number; down: number }>('/panel/api/clients/traffic/ann');
  t.deepEqual(
    (await panel.get<{ state: string }[]>('/panel/api/x/sidecars')).map(({ state }) => state),
    ['running'],
  );
  const { code, said: output } = await weirCommand(dataDirectory, ['invariants']);
  t.is(code, 0, output);
  t.regex(output, /programs beside the core have the users of the database: ok/);
  const running = await processesBelow(join(dataDirectory, 'processes'));
  t.is(running.length, 1, 'one process');
  await panel.call(`/panel/api/inbounds/del/${inboundId}`, { method: 'POST' });
  await panel.until(async () => (await status()) === undefined, 'it is gone');
  t.deepEqual(await processesBelow(join(dataDirectory, 'processes')), []);
  t.deepEqual(await readdir(join(dataDirectory, 'sidecars', 'mtproto')), []);
  t.log(usage, moved);
  return { usage, bytes: moved.count * 10 };
}

test('kill -9 of the panel at random moments of edits: each byte counts once', async (t) => {
  const { usage, bytes } = await run(t, Array<'panel'>(KILLS).fill('panel'), 7);
  t.is(usage.up, bytes);
  t.is(usage.down, bytes * 2);
});

test('kill -9 of the program, and of both: no byte counts twice', async (t) => {
  const kills = Array.from({ length: KILLS }, (_, i) =>
    i % 2 === 0 ? ('program' as const) : ('both' as const),
  );
  const { usage, bytes } = await run(t, kills, 11);
  t.true(usage.up <= bytes && usage.down === usage.up * 2, `${usage.up} of ${bytes}`);
  t.true(usage.up > bytes / 10, 'most of them');
});
