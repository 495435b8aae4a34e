// Runs sidecar programs.
// Programs that die at once, hang, or print without end, in place of amneziawg-go.
import { chmod, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testUnless } from '../../../test/harness/left-out.js';
import { whyNoTunnels } from './needs.js';
import { addTunnel, MIB, SERVER_BLOCK, untilState } from './tunnel-panel.js';
import { World } from './world.js';

const testTunnel = testUnless(await whyNoTunnels());

async function withProgram(
  t: Parameters<Parameters<typeof testTunnel>[1]>[0],
  script: string,
  state: RegExp,
) {
  const world = await World.make(t);
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  world.folders.push(folder);
  const path = join(folder, 'amneziawg-go');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  const panel = await world.panel({ WEIR_AMNEZIAWG_BIN: path });
  const { id } = await addTunnel(panel, { settings: { server: SERVER_BLOCK } });
  await panel.addClient('ann', [id]);
  await untilState(panel, id, state);
  t.true((await panel.addInbound()) > 0, 'everything else goes on');
  t.is(await world.exec('server', 'nft', ['list', 'tables']), '');
  return { panel };
}

testTunnel('a program that dies at once is reported with its words', async (t) => {
  await withProgram(t, 'echo "no such device" >&2; exit 7', /^not running: .*no such device/);
});

testTunnel(
  'a program that hangs, and prints a GiB meanwhile, is reported and does not fill the disk',
  async (t) => {
    const { panel } = await withProgram(
      t,
      'while :; do head -c 14000000 /dev/zero; sleep 0.2; done',
      /^not running: .*(15 s|did not|not ready|ready)/,
    );
    const folder = join(panel.dataDirectory, 'processes');
    const size = async (): Promise<number> => {
      let bytes = 0;
      for (const file of await readdir(folder, { recursive: true }))
        bytes += (await stat(join(folder, file)).catch(() => ({ size: 0 }))).size;
      return bytes;
    };
    await panel.until(async () => (await size()) < 128 * MIB, 'its output is cut');
  },
);
