// `weir dev ../my-plugin`: an edit restarts the panel in another process, with the same core.
import { join } from 'node:path';
import test from 'ava';
import { until } from '../harness/until.js';
import { folderOf, source, thirdParty, writeFiles } from '../outside/third-party.js';
import { DevSession, edit, processesAt } from './session.js';

test('an edit restarts the panel with the same core; after a plugin ended the panel, the next edit starts it; Ctrl-C stops all', async (t) => {
  const parent = await folderOf(t);
  const folder = join(parent, 'sleeper');
  const part = 'start: () => end()';
  await thirdParty(parent, 'sleeper', `import { end } from './end.js';\n${source('sleeper', part)}`);
  await writeFiles(folder, { 'end.js': 'export const end = () => undefined;\n' });
  await writeFiles(join(parent, 'data'), { 'weir.json': { preset: 'minimal' } });
  const dev = new DevSession(t, folder);
  await dev.hears(/^started in /);
  await edit(folder, 'end.js', (text) => `${text}\n`);
  await dev.hears(/^restarted in /);
  const [core, same] = dev.corePids();
  t.is(typeof core, 'number');
  t.is(same, core);
  await edit(folder, 'end.js', (text) => text.replace('undefined', 'process.exit(3)'));
  await dev.hears(/^the panel exited \(exit code 70\); it restarts after the next change$/);
  // More often than a panel in service forgives.
  for (const times of [2, 3]) {
    await edit(folder, 'end.js', (text) => `${text}\n`);
    await dev.hears(/^the panel exited \(exit code 70\)/, times);
  }
  t.is(await dev.end(), 0);
  await until(async () => (await processesAt(parent)).length === 0, 'nothing is left');
});
