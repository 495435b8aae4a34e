// `weir dev` in a checkout: a copy of this one, so that the edit harms nobody.
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { folderOf } from '../outside/third-party.js';
import { DevSession, edit } from './session.js';

const ABOUT = /about:\s+'/;
const PARTS = [
  ...['bin', 'cli', 'config', 'dist', 'drivers', 'examples', 'file', 'kernel', 'net', 'panel'],
  ...['plugins', 'schema', 'sdk', 'tables', 'test', 'timing'],
];
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];

test('an edit of this tree is in the panel after a restart, and the core lives on', async (t) => {
  const root = fileURLToPath(await sourceRoot());
  const copy = join(await folderOf(t), 'checkout');
  await mkdir(copy);
  for (const name of [...PARTS, ...FILES])
    await cp(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const dev = new DevSession(t, copy, join(copy, 'dist', 'test', 'harness', 'weir-entry.js'));
  await dev.hears(/^started in /);
  const [core] = dev.corePids();

  await edit(copy, join('plugins', 'system', 'index.ts'), (text) => {
    t.true(ABOUT.test(text), 'what is edited is there');
    return text.replace(ABOUT, "about: 'Edited. ");
  });
  await dev.hears(/^restarted in \d+\.\d s \(dist\/plugins\/system\/index\.js\)$/);
  t.log(...dev.said.filter((line) => line.startsWith('restarted')));
  await dev.login();
  const plugins = await dev.get<{ name: string; about: string }[]>('/panel/api/system/plugins');
  t.regex(plugins.find(({ name }) => name === 'system')?.about ?? '', /^Edited\./);
  t.deepEqual(dev.corePids(), [core, core]);
  t.is(dev.log.filter(({ msg }) => msg === 'ready').length, 2);
});
