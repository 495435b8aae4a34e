import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { connect, openPanel, openServer } from './user.js';

test('users reach this machine itself only where WEIR_ENGINE_PRIVATE allows it', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const server = await openServer(t);
  const closed = await openPanel(t, { dataDirectory, env: { WEIR_ENGINE_PRIVATE: '' } });
  await closed.addClient('a', [await closed.addInbound()]);
  t.is(closed.ready.engine, 'running', closed.ready.engineProblem);
  t.false(
    await (await connect(t, closed, 'a', server)).served(),
    'by default the server on loopback is out of reach',
  );
  await closed.kill('SIGTERM');
  const open = await openPanel(t, { dataDirectory, env: { WEIR_ENGINE_PRIVATE: 'allow' } });
  t.true(await (await connect(t, open, 'a', server)).served(), 'the same user, the same inbound');
});
