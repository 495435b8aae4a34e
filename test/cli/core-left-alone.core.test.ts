// A core that outlives its panel is not the command line's to stop.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { PanelProcess } from '../harness/panel-process.js';
import { weirCommand } from '../harness/weir-command.js';

test('a command while the panel is dead leaves the core running, and the next panel takes it over', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const panel = await PanelProcess.start({ dataDirectory });
  await panel.addInbound();
  const core = await panel.corePid();
  t.truthy(core);
  await panel.kill('SIGKILL');

  const { code, complained } = await weirCommand(dataDirectory, ['admin', 'reset']);
  t.deepEqual([code, complained], [0, '']);
  t.notThrows(() => process.kill(core ?? 0, 0));

  const next = await PanelProcess.start({ dataDirectory, anonymous: true });
  t.teardown(() => next.dispose());
  t.is(await next.corePid(), core);
});
