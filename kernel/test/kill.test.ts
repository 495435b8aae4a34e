// Runs on every database.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { connect } from '../database/connect.js';
import { databaseOf } from '../../test/harness/database.js';

test('keeps every acknowledged write after kill -9', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (let round = 0; round < 3; round++) {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./acknowledge.js', import.meta.url)), folder, String(round)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    t.teardown(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    // The child says so in the moment in which a write resolves.
    await Promise.race([
      once(child.stdout, 'data'),
      ended.then(() => Promise.reject(new Error('the child ended before it wrote'))),
    ]);
    child.kill('SIGKILL');
    await ended;
  }
  const connections = await connect(await databaseOf(folder), folder);
  const [rows] = await connections.sequelize.query('SELECT text FROM notes ORDER BY text');
  t.deepEqual(rows, [{ text: 'round 0' }, { text: 'round 1' }, { text: 'round 2' }]);
  await connections.close();
});
