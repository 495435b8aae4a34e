// An mtg-multi with the API for secrets, by a stand-in: users change while it runs.
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { MtprotoWorld } from './world.js';

const STAND_IN = fileURLToPath(new URL('./stand-in.js', import.meta.url));
interface Seen {
  readonly calls: readonly string[];
  readonly secrets: readonly [string, { readonly secret: string; readonly ad_tag?: string }][];
}

async function program(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mtg-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mtg-multi');
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${STAND_IN}' "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

const call = async <T>(world: MtprotoWorld, path: string, body?: unknown): Promise<T> => {
  const { ports } = await world.status();
  const reply = await fetch(`http://127.0.0.1:${ports['api']}${path}`, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return (await reply.json()) as T;
};

test('each edit is one call for one client, and the process and the others stay', async (t) => {
  await using world = await MtprotoWorld.open(await program(t));
  await world.running();
  const { pid } = await world.status();
  const { id: ann } = await world.panel.addClient('ann', [world.inboundId], { adTag: 'AB'.repeat(16) });
  const { id: bob } = await world.panel.addClient('bob', [world.inboundId]);
  const names = [`i${world.inboundId}.c${ann}`, `i${world.inboundId}.c${bob}`];
  const first = await call<Seen>(world, '/calls');
  t.deepEqual(first.calls, ['PUT /secrets', 'POST /secrets', 'POST /secrets']);
  t.deepEqual(
    first.secrets.map(([name]) => name),
    ['nobody', ...names],
  );
  const [, annSecret] = first.secrets[1] ?? [];
  t.deepEqual(annSecret, { secret: await world.secret('ann'), ad_tag: 'ab'.repeat(16) });
  t.deepEqual(first.secrets[2]?.[1], { secret: await world.secret('bob') });
  await world.panel.get('/panel/api/clients/del/bob', { body: {} });
  await world.panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  const last = await call<Seen>(world, '/calls');
  t.deepEqual(last.calls.slice(3), [`DELETE /secrets/${names[1]}`, `DELETE /secrets/${names[0]}`]);
  t.deepEqual(
    last.secrets.map(([name]) => name),
    ['nobody'],
    'the last one is a secret of nobody: the program refuses to be without',
  );
  t.like(await world.status(), { pid, live: true, problem: '' });
});

test('counters of the program are those of clients: in is up, and a quota removes its client alone', async (t) => {
  await using world = await MtprotoWorld.open(await program(t));
  await world.running();
  const { id: ann } = await world.panel.addClient('ann', [world.inboundId], { totalGB: 1000 });
  await world.panel.addClient('bob', [world.inboundId]);
  const name = `i${world.inboundId}.c${ann}`;
  await call(world, '/move', { name, bytes_in: 100, bytes_out: 300 });
  await call(world, '/move', { name: 'nobody', bytes_in: 7, bytes_out: 7 });
  await world.poll();
  t.like(await world.usage('ann'), { up: 100, down: 300, enable: true });
  await call(world, '/move', { name, bytes_in: 0, bytes_out: 700 });
  await world.poll();
  t.like(await world.usage('ann'), { up: 100, down: 1000, enable: false });
  const { secrets } = await call<Seen>(world, '/calls');
  t.deepEqual(secrets.length, 2);
  t.false(secrets.some(([other]) => other === name));
  // A counter that the program keeps after the removal must not count again.
  await world.panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  await call(world, '/move', { name, bytes_in: 1, bytes_out: 1 });
  await world.poll();
  t.like(await world.usage('ann'), { up: 1, down: 1, enable: true });
});

test('the config is private, and holds no secret of a client where the program takes them while it runs', async (t) => {
  await using world = await MtprotoWorld.open(await program(t));
  await world.running();
  await world.panel.addClient('ann', [world.inboundId]);
  const path = join(
    world.panel.dataDirectory,
    'processes',
    'sidecars',
    `mtproto-in-${world.inboundId}`,
    'mtg.toml',
  );
  t.is((await stat(path)).mode & 0o777, 0o600);
  const text = await readFile(path, 'utf8');
  t.false(text.includes(await world.secret('ann')));
  const shown = JSON.stringify(await world.panel.get('/panel/api/x/sidecars'));
  const [, token = ''] = /^"api-token" = "([0-9a-f]{64})"$/m.exec(text) ?? [];
  t.not(token, '');
  t.false(shown.includes(token));
  t.false(world.panel.log.join('\n').includes(token));
  await world.panel.get(`/panel/api/inbounds/del/${world.inboundId}`, { method: 'POST' });
  await t.throwsAsync(stat(path), { code: 'ENOENT' });
  const record = join(world.panel.dataDirectory, 'sidecars', 'mtproto', `in-${world.inboundId}.json`);
  await t.throwsAsync(stat(record), { code: 'ENOENT' });
});

test('hundreds of clients are one call, and those that it has are left alone', async (t) => {
  await using world = await MtprotoWorld.open(await program(t));
  await world.running();
  const clients = Array.from({ length: 250 }, (_, i) => ({
    client: { email: `many-${i}` },
    inboundIds: [world.inboundId],
  }));
  await world.panel.get('/panel/api/clients/bulkCreate', { body: clients });
  const { calls, secrets } = await call<Seen>(world, '/calls');
  t.deepEqual(calls, ['PUT /secrets', 'PUT /secrets']);
  t.is(secrets.length, 251);
});
