// A panel that is killed at a step of an install, and the one after it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { connect, engineBinary, engineOf, MIB, openServer, spawnPanel } from '../../../test/engine/user.js';
import { folderWithCore, install, installedOf, stepOf } from './installed-panel.js';
import { coreThatSays, ReleaseServer } from './release-server.js';

/** Each step takes long enough to be killed in. */
const SLOW = `case "$*" in "run -test"*) sleep 1;; "run -c"*) sleep 1;; esac`;

/** `versions`: what may run afterwards. */
export async function killedAt(
  t: ExecutionContext,
  step: 'download' | 'test' | 'start' | 'check',
  versions: readonly string[],
): Promise<void> {
  const releases = await ReleaseServer.open(t);
  releases.add('26.4.1', coreThatSays('26.4.1', engineBinary(), SLOW), {
    ...(step === 'download' && {
      archive: (response) => void response.writeHead(200).write('a beginning'),
    }),
  });
  const dataDirectory = await folderWithCore();
  const first = await spawnPanel(t, { dataDirectory, env: releases.env });
  await first.addClient('ann', [await first.addInbound()]);
  const cutOff = t.throwsAsync(install(first, '26.4.1'));
  await first.until(async () => (await stepOf(first)) === step, `the install is at ${step}`);
  await first.kill('SIGKILL');
  await cutOff;

  const second = await spawnPanel(t, { dataDirectory, env: releases.env });
  t.is(second.ready.engine, 'running', second.ready.engineProblem);
  const { version, errorMsg } = await engineOf(second);
  t.true(versions.includes(version), version);
  t.is(errorMsg, '');
  const server = await openServer(t);
  t.is(await (await connect(t, second, 'ann', server)).download(MIB), MIB);
  const isNew = version === '26.4.1';
  t.like(await installedOf(second), { running: version, chosen: isNew ? '26.4.1' : '' });
  const record = JSON.parse(await readFile(join(dataDirectory, 'engine', 'core.json'), 'utf8')) as {
    binary: string;
  };
  t.is(record.binary.includes(join('cores', '26.4.1')), isNew, 'the status names the core that runs');
  if (step === 'download' || step === 'test') return;
  t.regex(await readFile(join(dataDirectory, 'cores', 'chosen.json'), 'utf8'), /"trying":""/);
}
