// A panel whose core is none: it can be reached, says what is wrong and keeps what it is told.
import test from 'ava';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PanelProcess } from '../harness/panel-process.js';
import { engineOf } from './user.js';

test('with a program that is no core the panel starts, says so and takes clients', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'not-a-core');
  await writeFile(program, '#!/bin/sh\nexit 0\n');
  await chmod(program, 0o755);
  const panel = await PanelProcess.start({ env: { WEIR_ENGINE_BIN: program } });
  t.teardown(() => panel.dispose());

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
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});

test('a core that is not there is named, with the way out', async (t) => {
  const panel = await PanelProcess.start({ env: { WEIR_ENGINE_BIN: '/nowhere/xray' } });
  t.teardown(() => panel.dispose());
  t.not(panel.ready.engine, 'running');
  t.regex(panel.ready.engineProblem ?? '', /\/nowhere\/xray/);
  t.not((await engineOf(panel)).state, 'running');
});
