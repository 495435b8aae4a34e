// What is around an install: its messages on the live stream, what the environment forbids, and a core that is stopped.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { engineBinary, engineOf, openPanel } from '../../../test/engine/user.js';
import { Listener } from '../../realtime/test/listener.js';
import { folderWithCore, install, installedOf, openWith } from './installed-panel.js';
import { coreThatSays, ReleaseServer } from './release-server.js';

async function releasesOf(t: Parameters<typeof ReleaseServer.open>[0]): Promise<ReleaseServer> {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary()));
  return releases;
}

test('the live stream tells each step, and a new reader where the last install is', async (t) => {
  const panel = await openWith(t, await releasesOf(t));
  const reader = Listener.plain(panel);
  t.teardown(() => reader.close());
  await reader.first('snapshot');
  await install(panel, '26.4.1');
  await panel.until(
    () => reader.of<{ step: string }>('engine_install').some(({ payload }) => payload.step === 'done'),
    'the stream says that it is done',
  );
  const told = reader.of<{ step: string; version: string }>('engine_install').map(({ payload }) => payload);
  t.deepEqual(
    told.map(({ step }) => step).filter((step, i, all) => step !== all[i - 1]),
    ['list', 'digest', 'download', 'unpack', 'test', 'stop', 'start', 'check', 'done'],
  );
  t.is(told.at(-1)?.version, '26.4.1');
  const late = Listener.plain(panel);
  t.teardown(() => late.close());
  const { payload } = await late.first<{ engine_install: object }>('snapshot');
  t.like(payload.engine_install, { version: '26.4.1', step: 'done', error: '' });
});

test('a stopped core stays stopped, and starts as the installed one; a damaged copy is not used', async (t) => {
  const releases = await releasesOf(t);
  const panel = await openWith(t, releases);
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.is((await install(panel, '26.4.1')).status, 200);
  t.like(await engineOf(panel), { state: 'stop', version: '26.4.1' });
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  t.like(await engineOf(panel), { state: 'running', version: '26.4.1' });
  const [recorded] = await panel.get<object[]>('/panel/api/x/audit/changes?area=core&name=install');
  t.like(recorded, { who: 'admin', kind: 'done', fields: { version: [null, '26.4.1'] } });
  const pid = await panel.corePid();
  const again = await install(panel, 'v26.4.1');
  t.regex(again.body.msg, /^core 26\.4\.1 runs already; it was installed already/);
  t.is(await panel.corePid(), pid, 'no connection is closed for nothing');

  await writeFile(join(panel.dataDirectory, 'cores', '26.3.27', 'xray'), 'damaged');
  const damaged = await install(panel, '26.3.27');
  t.is(
    damaged.body.code,
    'ENGINE_VERSIONS_ARCHIVE',
    'it is downloaded again, and the source does not have it',
  );
  t.is((await engineOf(panel)).version, '26.4.1');
});

test('WEIR_ENGINE_BIN and WEIR_ENGINE_INSTALL=off are respected', async (t) => {
  const releases = await releasesOf(t);
  const dataDirectory = await folderWithCore();
  const pinned = await openPanel(t, {
    dataDirectory,
    env: { ...releases.env, WEIR_ENGINE_BIN: engineBinary() },
  });
  const refused = await install(pinned, '26.4.1');
  t.is(refused.body.code, 'ENGINE_VERSIONS_PINNED');
  t.regex(
    refused.body.msg,
    /^WEIR_ENGINE_BIN names the core \(.*\); remove the variable and restart the panel/,
  );
  await pinned.stop();

  const open = await openPanel(t, { dataDirectory, env: releases.env });
  await install(open, '26.4.1');
  await install(open, '26.3.27');
  await open.stop();
  const off = await openPanel(t, { dataDirectory, env: { ...releases.env, WEIR_ENGINE_INSTALL: 'off' } });
  releases.add('26.4.2', coreThatSays('26.4.2', engineBinary()));
  t.regex((await install(off, '26.4.2')).body.msg, /WEIR_ENGINE_INSTALL=off forbids downloads of cores/);
  t.is((await install(off, '26.4.1')).status, 200);
  t.like(await installedOf(off), { running: '26.4.1', chosen: '26.4.1', previous: '26.3.27' });
});
