// `weir dev ../my-plugin` with a compiler: a real edit, a real build, another process for the panel, the same core.
import { join } from 'node:path';
import test from 'ava';
import { until } from '../harness/until.js';
import { writeFiles } from '../outside/third-party.js';
import { DevSession, edit, helloOf, processesAt } from './session.js';

test('an edit is in the panel after a restart, the core lives on, and code that does not build changes nothing', async (t) => {
  const folder = await helloOf(t);
  await writeFiles(join(folder, '..', 'data'), { 'weir.json': { preset: 'minimal' } });
  const dev = new DevSession(t, folder);
  const greeting = async () => {
    await dev.login();
    return dev.get('/panel/api/x/hello/world');
  };
  await dev.hears(/^started in /);
  t.deepEqual(await greeting(), { greeting: 'hello, world' });
  const [core] = dev.corePids();
  t.is(typeof core, 'number');

  // A plugin that cannot be loaded: the panel runs without it.
  await edit(folder, 'index.ts', (text) => `${text}\nthrow new Error('not today');\n`);
  await dev.hears(/^restarted in \d+\.\d s \(dist\/index\.js\)$/);
  t.true(
    dev.log.some(({ msg, reason }) => msg === 'a plugin is left out' && /not today/.test(String(reason))),
  );
  await dev.login();
  t.is((await dev.call('/panel/api/x/hello/world')).status, 404);

  await edit(folder, 'index.ts', (text) =>
    text.replace("\nthrow new Error('not today');\n", '').replace('hello, $', 'good day, $'),
  );
  await dev.hears(/^restarted in /, 2);
  t.deepEqual(await greeting(), { greeting: 'good day, world' });

  await edit(folder, 'index.ts', (text) => text.replace('`good day, ${params.name}`', 'params.nobody'));
  await dev.hears(/^index\.ts\(\d+,\d+\): error TS2339/);
  await dev.hears(/^the build failed; the running panel stays$/);
  t.deepEqual(await greeting(), { greeting: 'good day, world' });
  t.is(dev.log.filter(({ msg }) => msg === 'ready').length, 3);
  t.deepEqual(dev.corePids(), [core, core, core]);

  t.log(...dev.said.filter((line) => line.startsWith('restarted')));
  t.is(await dev.end(), 0);
  await until(
    async () => (await processesAt(join(folder, '..'))).length === 0,
    'no compiler, no panel and no core is left',
  );
});
