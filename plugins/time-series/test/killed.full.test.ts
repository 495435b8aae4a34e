// kill -9 in the middle of writing: what is read afterwards is whole, and recording goes on.
import test from 'ava';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PanelProcess } from '../../../test/harness/index.js';
import { gauge } from '../contract.js';
import { Recorder } from '../recorder.js';
import { folderFor, keptLog } from './folder.js';

const WRITER = fileURLToPath(new URL('./writing-process.js', import.meta.url));
const HEADER_BYTES = 128;
const START = Date.UTC(2026, 0, 15, 12);
const series = gauge({ name: 'a.load', unit: '', mostKeys: 50 });

test('a process that is killed while it writes leaves whole points only', async (t) => {
  const path = join(await folderFor(t), 'a.load.series');
  let seen = 0;
  for (let round = 0; round < 12; round++) {
    const start = START + round * 2_000_000;
    const writer = spawn(process.execPath, [WRITER, path, String(start)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    await sleep(5 + round * 7);
    writer.kill('SIGKILL');
    await once(writer, 'exit');

    const { log, lines } = keptLog();
    const recorder = new Recorder(series, path, log);
    const keys = await recorder.keys();
    for (const key of keys) {
      const first = start / 2_000;
      const found = [...(await recorder.read(key, 0, first, first + 1_000))];
      seen += found.length;
      t.true(found.every(([bucket, { sum, count }]) => count === 1 && sum === bucket % 1_000));
      // Without a hole: points were written in order.
      t.true(found.every(([bucket], i) => bucket === first + i));
    }
    await recorder.close();
    // A file that grew for a key that was not written yet may have a wrong size.
    t.deepEqual(
      lines.filter((line) => !line.includes('wrong size')),
      [],
    );
  }
  t.true(seen > 500, `only ${seen} points were written`);
});

test('a panel that is killed keeps what it had flushed, and goes on', async (t) => {
  const env = { WEIR_ENGINE_BIN: '/nowhere/xray' };
  const first = await PanelProcess.start({ env });
  t.teardown(() => first.dispose());
  const { dataDirectory } = first;
  const file = join(dataDirectory, 'time-series', 'server-status.mem.series');
  await first.until(
    async () => (await readFile(file)).subarray(HEADER_BYTES).some((byte) => byte !== 0),
    'a flush',
    60_000,
  );
  await first.kill('SIGKILL');
  const killedAt = Math.floor(Date.now() / 1000);

  const second = await PanelProcess.start({ env, dataDirectory });
  t.teardown(() => second.dispose());
  const points = () => second.get<{ t: number; v: number }[]>('/panel/api/server/history/mem/2');
  t.true((await points()).some((point) => point.t < killedAt));
  await second.until(async () => (await points()).some((point) => point.t > killedAt), 'a sample', 60_000);
  t.true((await points()).every(({ v }) => v > 0 && v <= 100));
  t.false(second.log.some(({ msg }) => /series/.test(msg)));
});
