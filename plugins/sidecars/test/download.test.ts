// A program that is not on this machine: its release is taken with the digest that the plugin pins, and in no other way.
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { SidecarProgram } from '../contract.js';
import { keptProgram } from '../find-program.js';
import { World } from './world.js';

const PROGRAM = fileURLToPath(new URL('./fake-program.js', import.meta.url));
const SCRIPT = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
const env = { WEIR_OUTGOING_ALLOW: 'sidecars=127.0.0.1' };

async function released(t: ExecutionContext, digest: string) {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(request.url ?? '');
    response.end(SCRIPT);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const name = `weir-test-${randomBytes(6).toString('hex')}`;
  t.teardown(() => rm(dirname(keptProgram(process.env, name, '1.0')), { recursive: true, force: true }));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/program`;
  const program: SidecarProgram = {
    name,
    variable: 'TEST_FAKE_BIN',
    hint: 'write one',
    release: { version: '1.0', url, sha256: digest },
  };
  return { calls, program };
}
const DIGEST = createHash('sha256').update(SCRIPT).digest('hex');

test('a release with the digest that is pinned is downloaded once, and runs', async (t) => {
  const { calls, program } = await released(t, DIGEST);
  await using world = await World.open({ sidecar: { program }, env });
  await world.reaches(/^running$/);
  t.deepEqual(calls, ['/program']);
  await using again = await World.open({ sidecar: { program }, env });
  await again.reaches(/^running$/);
  t.deepEqual(calls, ['/program'], 'it is in the cache folder');
});

test('a release with another digest is refused, and nothing of it is left', async (t) => {
  const { program } = await released(t, '0'.repeat(64));
  await using world = await World.open({ sidecar: { program }, env });
  await world.reaches(/^not running: there is no weir-test-.*has the SHA-256 .* and not 0000.*write one$/);
  t.pass();
});

test('nothing is downloaded where that is forbidden', async (t) => {
  const { calls, program } = await released(t, DIGEST);
  await using world = await World.open({
    sidecar: { program },
    env: { ...env, WEIR_SIDECARS_INSTALL: 'off' },
  });
  await world.reaches(/^not running: there is no weir-test-.*WEIR_SIDECARS_INSTALL=off forbids/);
  t.deepEqual(calls, []);
});
