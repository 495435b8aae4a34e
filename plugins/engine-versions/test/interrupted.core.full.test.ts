// Installs that are cut off: the panel is killed in the middle, or the disk is full.
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { engineBinary, engineOf, MIB, openPanel, spawnPanel } from '../../../test/engine/user.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import { folderWithCore, install, installedOf, stepOf } from './installed-panel.js';
import { killedAt } from './killed-panel.js';
import { coreThatSays, ReleaseServer } from './release-server.js';

// The new core may just have been started: it is adopted when it answers.
test.serial('a panel that is killed at the start of the new core leaves a core that serves', (t) =>
  killedAt(t, 'start', ['26.3.27', '26.4.1']),
);

test.serial('a panel that is killed while the new core is checked leaves that core', (t) =>
  killedAt(t, 'check', ['26.4.1']),
);

test.serial('a panel that is killed while the new core hangs uses the previous one', async (t) => {
  const releases = await ReleaseServer.open(t);
  const hangs = `case "$*" in "run -c"*) exec sleep 600;; esac`;
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary(), hangs));
  const dataDirectory = await folderWithCore();
  const first = await spawnPanel(t, { dataDirectory, env: releases.env });
  const cutOff = t.throwsAsync(install(first, '26.4.1'));
  const choice = () => readFile(join(dataDirectory, 'cores', 'chosen.json'), 'utf8').catch(() => '');
  await first.until(async () => (await stepOf(first)) === 'start', 'the new core is started');
  const record = () => readFile(join(dataDirectory, 'engine', 'core.json'), 'utf8').catch(() => '');
  await first.until(async () => (await record()).includes('26.4.1'), 'the new core is recorded');
  t.regex(await choice(), /"trying":"26\.4\.1"/);
  await first.kill('SIGKILL');
  await cutOff;
  const second = await spawnPanel(t, { dataDirectory, env: releases.env });
  t.is(second.ready.engine, 'running', second.ready.engineProblem);
  t.is((await engineOf(second)).version, '26.3.27');
  t.regex(await choice(), /"chosen":"".*"trying":""/);
});

testUnless(SmallDisk.obstacle())('a full disk: nothing is installed, and the core serves on', async (t) => {
  const releases = await ReleaseServer.open(t);
  releases.add(
    '26.4.1',
    Buffer.concat([Buffer.from(coreThatSays('26.4.1', engineBinary())), Buffer.alloc(8 * MIB, '#')]),
  );
  const dataDirectory = await folderWithCore();
  const disk = SmallDisk.mount(t, 4);
  await mkdir(disk.path, { recursive: true });
  await symlink(disk.path, join(dataDirectory, 'cores'));
  const panel = await openPanel(t, { dataDirectory, env: releases.env });
  const pid = await panel.corePid();
  const answer = await install(panel, '26.4.1');
  t.is(answer.body.code, 'ENGINE_VERSIONS_ARCHIVE');
  t.regex(answer.body.msg, /ENOSPC/);
  t.is(await panel.corePid(), pid);
  t.deepEqual((await installedOf(panel)).installed, []);
});
