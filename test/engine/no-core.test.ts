// A panel without a working core: it is reachable, says what is wrong and stores what is edited.
import test from 'ava';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineOf, openPanel } from './user.js';

test('with a program that is no core the panel starts, says so and takes clients', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'not-a-core');
  await writeFile(program, '#!/bin/sh\nexit 0\n');
  await chmod(program, 0o755);
  const panel = await openPanel(t, { env: { WEIR_ENGINE_BIN: program } });

  t.is(panel.ready.engine, 'failed');
  t.regex(panel.ready.engineProblem ?? '', /not-a-core/);
  const { state, errorMsg, version } = await engineOf(panel);
  t.is(state, 'error');
  t.regex(errorMsg, /not-a-core/);
  t.is(version, '');

  const inboundId = await panel.addInbound();
  const { status, body } = await panel.call('/panel/api/clients/add', {
    body: { client: { email: 'a' }, inboundIds: [inboundId] },
  });
  t.is(status, 200);
  t.true(body.success);
  t.regex(body.msg, /the core does not have it yet: .*not-a-core/);
  t.like(await panel.get('/panel/api/clients/get/a'), { email: 'a', inboundIds: [inboundId] });
});

test('a missing core is named, with the fix', async (t) => {
  const panel = await openPanel(t, { env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.not(panel.ready.engine, 'running');
  t.regex(panel.ready.engineProblem ?? '', /\/nowhere\/xray/);
  t.not((await engineOf(panel)).state, 'running');
  for (const [path, method] of [
    ['restartEngineService', 'POST'],
    ['getConfigJson', 'GET'],
  ] as const) {
    const { status, body } = await panel.call(`/panel/api/server/${path}`, { method });
    t.deepEqual([status, body.code], [503, 'ENGINE_NO_CORE']);
    t.regex(body.msg, /nowhere\/xray/);
  }
});
