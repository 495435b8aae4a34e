// Runs on every database.
// The panel is killed at random moments, while a client program moves bytes and usage moves from the journal to the days:
// afterwards the days of each client sum up to what it used.
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { connect, engineBinary, MIB, openServer, poll } from '../../../test/engine/user.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { random } from '../../../test/harness/random.js';
import { weirCommand } from '../../../test/harness/weir-command.js';

const SEED = Number(process.env['WEIR_TEST_SEED'] ?? (Date.now() % 1_000_000) + 1);
const KILLS = Number(process.env['WEIR_TEST_KILLS'] ?? 8);

test('after kill -9 in the middle of polls and moves, the days sum up to the totals', async (t) => {
  t.timeout(300_000);
  t.log(`WEIR_TEST_SEED=${SEED}`);
  const { below } = random(SEED);
  const env = { WEIR_ENGINE_BIN: engineBinary(), WEIR_ENGINE_PRIVATE: 'allow' };
  let panel = await PanelProcess.start({ env });
  const { dataDirectory } = panel;
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  t.teardown(() => panel.dispose());
  const server = await openServer(t);
  const inboundId = await panel.addInbound();
  const emails = ['ann', 'ben', 'cat'];
  for (const email of emails) await panel.addClient(email, [inboundId]);
  const users = await Promise.all(emails.map((email) => connect(t, panel, email, server)));
  const move = () => weirCommand(dataDirectory, ['jobs', '--run', 'usage-by-day/move'], env);

  for (let kill = 0; kill < KILLS; kill++) {
    await Promise.all(users.map((user) => user.download(MIB * (1 + below(3)))));
    const work = (async () => {
      for (;;) await (below(2) === 0 ? poll(panel) : move());
    })().catch(() => undefined);
    await sleep(below(400));
    await panel.kill('SIGKILL');
    await work;
    panel = await PanelProcess.start({ env, dataDirectory });
  }
  await poll(panel);
  t.is((await move()).code, 0);
  let all = 0;
  for (const email of emails) {
    const { up, down } = await panel.get<{ up: number; down: number }>(`/panel/api/clients/traffic/${email}`);
    const days = await panel.get<{ up: number; down: number }[]>(
      `/panel/api/x/usage-by-day/clients/${email}`,
    );
    const sum = (key: 'up' | 'down') => days.reduce((total, day) => total + day[key], 0);
    t.deepEqual([sum('up'), sum('down')], [up, down], email);
    all += down;
  }
  t.true(all >= KILLS * emails.length * MIB, `${all} bytes`);
});
