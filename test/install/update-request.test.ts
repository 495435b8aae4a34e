// The panel and root's command together, without systemd: what one writes, the other one reads.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { Installation } from '../../cli/upgrade/installation.js';
import { type Installed, serveRequest } from '../../cli/upgrade/requested.js';
import { ranged, releaseOf } from '../../plugins/updates/test/release-server.js';
import { UpdateWorld } from '../../plugins/updates/test/update-panel.js';
import { folderFor } from '../harness/folder-for.js';

const run = promisify(execFile);

test('root installs what the panel has downloaded, and the panel says how it ended', async (t) => {
  const folder = await folderFor(t);
  await mkdir(join(folder, 'weir-0.2.0'));
  await writeFile(join(folder, 'weir-0.2.0', 'VERSION'), '{"version": "0.2.0"}');
  await run('tar', ['-czf', join(folder, 'p.tar.gz'), '-C', folder, 'weir-0.2.0']);
  const bytes = await readFile(join(folder, 'p.tar.gz'));

  const world = await UpdateWorld.open(t);
  await symlink('releases/0.1.0', join(world.root, 'current'));
  world.server.publish([releaseOf('0.2.0', bytes)]);
  world.server.reply('/package.tar.gz', ranged(bytes));
  const serve = (ended: Installed) =>
    serveRequest({
      installation: new Installation(world.root),
      directory: world.data,
      key: world.server.key.publicText,
      install: async (unpacked) => {
        t.is(await readFile(join(unpacked, 'VERSION'), 'utf8'), '{"version": "0.2.0"}');
        return ended;
      },
      finish: () => Promise.reject(new Error('nothing was interrupted')),
      say: () => undefined,
      complain: (line) => t.log(line),
    });

  await world.update();
  await world.asked();
  t.is(await serve({ code: 1, complained: 'the first reason\nthe last one\n' }), 0);
  t.like(await world.ended(), { state: 'failed', exitCode: 1, reason: 'the first reason; the last one' });
  await rm(join(folder, 'p.tar.gz'));
  await world.update();
  const { runId } = await world.asked();
  t.is(await serve({ code: 0, complained: '' }), 0);
  t.like(await world.ended(), { runId, state: 'success', exitCode: 0, reason: '', version: '0.2.0' });
});
