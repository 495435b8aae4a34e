import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { EngineFolder } from '../folder.js';
import { markIn, NameMark } from '../name-mark.js';

test('a folder has one mark, private; a damaged one is replaced', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  const folder = new EngineFolder(path);
  const mark = await markIn(folder);
  t.regex(mark, /^~[a-z]{16}$/);
  t.is(await markIn(folder), mark);
  t.is((await stat(folder.mark)).mode & 0o777, 0o600);
  await writeFile(folder.mark, '');
  t.not(await markIn(folder), mark);
});

test('a rule applies to the users that it names, by their names in the core', (t) => {
  const names = new NameMark();
  const rule = { User: ['i1.c2', 'somebody', 'regexp:c3$', 'regexp:c4'], outboundTag: 'direct' };
  t.is(names.inRule(rule), rule, 'a core of an earlier version');
  names.mark = '~mark';
  t.deepEqual(names.inRule(rule), {
    User: ['i1.c2', 'i1.c2~mark', 'somebody', 'regexp:c3$', 'regexp:c3~mark$', 'regexp:c4'],
    outboundTag: 'direct',
  });
  t.deepEqual(names.inRule({ user: 'i1.c2,somebody' }), { user: ['i1.c2', 'i1.c2~mark', 'somebody'] });
});
