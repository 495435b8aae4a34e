// Runs on every database in test:full.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { dropDatabase } from '../../../test/harness/database.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { until } from '../../../test/harness/until.js';
import { keyFileIn, writeKeyFile } from '../key-file.js';
import { type Key, keyIdOf, keyOf, newKey, seal } from '../sealed-text.js';
import { bootVault, bootWith, get, keyLines, put, rowsOf, weir } from './vault.js';

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}
/** The end of the test stops it, in case that the test did not come that far. */
async function open(t: ExecutionContext, options: Parameters<typeof bootVault>[0]) {
  const panel = await bootVault(options);
  t.teardown(() => panel.stop());
  return panel;
}
const sealedWith = async (directory: string): Promise<(string | undefined)[]> =>
  (await rowsOf<{ token: string }>(directory, 'SELECT token FROM x_vault_tokens ORDER BY name')).map(
    ({ token }) => keyIdOf(token),
  );
const knownKeys = async (directory: string): Promise<string[]> =>
  (await rowsOf<{ id: string }>(directory, 'SELECT id FROM secret_keys')).map(({ id }) => id);
const current = async (directory: string): Promise<Key> => {
  const key = keyOf((await keyLines(directory))[0] ?? '');
  if (!key) throw new Error('there is no key');
  return key;
};

test('seals everything with a new key, removes the previous one later, and every secret stays readable', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  const dataDirectory = await folder(t);
  const panel = await open(t, { clock, dataDirectory });
  for (const name of ['ada', 'bob']) await put(panel, name, `token of ${name}`);
  const first = await current(dataDirectory);
  t.deepEqual(await sealedWith(dataDirectory), [first.id, first.id]);

  clock.tick(9 * 60_000);
  await panel.kernel.settled();
  const { code, said } = await weir(dataDirectory, ['secrets', 'rotate']);
  t.is(code, 0);
  const second = await current(dataDirectory);
  t.not(second.id, first.id);
  t.true(said.includes(`The key ${second.id} is in use; 2 secrets`), said);
  t.deepEqual(await sealedWith(dataDirectory), [second.id, second.id]);
  t.is(await get(panel, 'ada'), 'token of ada');
  t.is(keyIdOf(await put(panel, 'eve', 'token of eve')), second.id);
  t.is((await keyLines(dataDirectory)).length, 2);

  // The job comes in a minute, and nine of the ten are missing.
  clock.tick(60_001);
  await panel.kernel.settled();
  t.is((await keyLines(dataDirectory)).length, 2);

  // Sealed before the change, written after it: the previous key must still be there.
  const late = seal(first, 'late', {
    plugin: 'vault',
    table: 'x_vault_tokens',
    column: 'token',
    key: 'late',
  });
  await editDatabase(dataDirectory, [`INSERT INTO x_vault_tokens (name, token) VALUES ('late', '${late}')`]);
  t.is(await get(panel, 'late'), 'late');
  clock.tick(10 * 60_000 + 1);
  await until(async () => {
    clock.tick(10 * 60_000);
    return (await keyLines(dataDirectory)).length === 1;
  }, 'the previous key is deleted');
  await panel.kernel.settled();
  t.is(await get(panel, 'late'), 'late');
  t.deepEqual(await sealedWith(dataDirectory), Array(4).fill(second.id));
  t.deepEqual(await knownKeys(dataDirectory), [second.id]);
  await panel.stop();
});

test('a change that was cut short at any point is carried on by the next start', async (t) => {
  const dataDirectory = await folder(t);
  let panel = await open(t, { dataDirectory });
  for (const name of ['ada', 'bob']) await put(panel, name, `token of ${name}`);
  await panel.stop();
  const path = keyFileIn(dataDirectory);
  const resealed = (key: Key, name: string): string =>
    `UPDATE x_vault_tokens SET token = '${seal(key, `token of ${name}`, { plugin: 'vault', table: 'x_vault_tokens', column: 'token', key: name })}' WHERE name = '${name}'`;
  const points: Readonly<Record<string, (old: Key, next: Key) => Promise<unknown>>> = {
    'the file is written': (old, next) => writeKeyFile(path, [next, old]),
    'the key is known': async (old, next) => {
      await writeKeyFile(path, [next, old]);
      await editDatabase(dataDirectory, [`INSERT INTO secret_keys (id) VALUES ('${next.id}')`]);
    },
    'some are sealed': async (old, next) => {
      await writeKeyFile(path, [next, old]);
      await editDatabase(dataDirectory, [resealed(next, 'ada')]);
    },
    'all are sealed, and the previous key is out of the file': async (_, next) => {
      await writeKeyFile(path, [next]);
      await editDatabase(dataDirectory, [resealed(next, 'ada'), resealed(next, 'bob')]);
    },
  };
  for (const [point, reach] of Object.entries(points)) {
    const next = newKey();
    await reach(await current(dataDirectory), next);
    panel = await open(t, { dataDirectory });
    t.is(await get(panel, 'ada'), 'token of ada', point);
    t.is(await get(panel, 'bob'), 'token of bob', point);
    await panel.stop();
    t.deepEqual(await sealedWith(dataDirectory), [next.id, next.id], point);
    t.deepEqual(await keyLines(dataDirectory), [next.text], point);
    t.deepEqual(await knownKeys(dataDirectory), [next.id], point);
  }
});

test('a plugin that is off keeps its secrets through a change of keys, and one that was purged is no trouble', async (t) => {
  const dataDirectory = await folder(t);
  let panel = await open(t, { dataDirectory });
  await put(panel, 'ada', 'token of ada');
  await panel.stop();
  t.is((await weir(dataDirectory, ['secrets', 'rotate'])).code, 0);
  await (await bootWith({ dataDirectory })).stop();
  t.is((await keyLines(dataDirectory)).length, 1);
  panel = await open(t, { dataDirectory });
  t.is(await get(panel, 'ada'), 'token of ada');
  await panel.stop();
  await editDatabase(dataDirectory, ['DROP TABLE x_vault_tokens']);
  const { code, said } = await weir(dataDirectory, ['secrets', 'rotate']);
  t.is(code, 0, said);
  await (await bootWith({ dataDirectory })).stop();
  t.is((await keyLines(dataDirectory)).length, 1);
});

test('a value that does not open keeps its key, and is named', async (t) => {
  const dataDirectory = await folder(t);
  const panel = await open(t, { dataDirectory });
  for (const name of ['ada', 'bob']) await put(panel, name, `token of ${name}`);
  await editDatabase(dataDirectory, ["UPDATE x_vault_tokens SET name = 'eve' WHERE name = 'bob'"]);
  t.regex(
    await get(panel, 'eve'),
    /^the secret in x_vault_tokens\.token of eve was changed, or sealed for another place; set it again$/,
  );
  const { said } = await weir(dataDirectory, ['secrets', 'rotate']);
  t.regex(said, /; 1 secrets were encrypted/);
  t.regex(said, /Not encrypted again: the secret in x_vault_tokens\.token of eve/);
  await panel.stop();
  const again = await open(t, { dataDirectory });
  t.is((await keyLines(dataDirectory)).length, 2);
  await put(again, 'eve', 'set again');
  await again.stop();
  await (await bootVault({ dataDirectory })).stop();
  t.is((await keyLines(dataDirectory)).length, 1);
});

test('a key that is lost is named, with the way out, and nothing is made in its place', async (t) => {
  const dataDirectory = await folder(t);
  let panel = await open(t, { dataDirectory });
  await put(panel, 'ada', 'token of ada');
  await panel.stop();
  const lost = await current(dataDirectory);
  const path = keyFileIn(dataDirectory);
  await rm(path);
  const missing = await t.throwsAsync(bootVault({ dataDirectory }));
  t.regex(missing.message, new RegExp(`sealed with the key ${lost.id} \\(1 in x_vault_tokens\\.token\\)`));
  t.regex(
    missing.message,
    new RegExp(`put ${path} back .* WEIR_SECRET_KEY .* WEIR_SECRET_FORGET=${lost.id}`),
  );
  await t.throwsAsync(keyLines(dataDirectory), { code: 'ENOENT' });

  const wrong = newKey();
  const env = { WEIR_SECRET_KEY: wrong.text };
  t.regex((await t.throwsAsync(bootVault({ dataDirectory, env }))).message, new RegExp(`there: ${wrong.id}`));
  panel = await open(t, { dataDirectory, env: { WEIR_SECRET_KEY: lost.text } });
  t.is(await get(panel, 'ada'), 'token of ada');
  await panel.stop();

  await t.throwsAsync(bootVault({ dataDirectory, env: { WEIR_SECRET_FORGET: wrong.id } }), {
    message: new RegExp(`sealed with the key ${lost.id}`),
  });
  panel = await open(t, { dataDirectory, env: { WEIR_SECRET_FORGET: lost.id } });
  t.regex(
    await get(panel, 'ada'),
    new RegExp(`sealed with the key ${lost.id}, which is missing; set it again`),
  );
  await put(panel, 'ada', 'another');
  await panel.stop();
  panel = await open(t, { dataDirectory });
  t.is(await get(panel, 'ada'), 'another');
  await panel.stop();
});

test('keys of the environment: the first one seals, the others open, and the file is left to the admin', async (t) => {
  const dataDirectory = await folder(t);
  let panel = await open(t, { dataDirectory });
  await put(panel, 'ada', 'token of ada');
  await panel.stop();
  const [one, two] = [newKey(), newKey()];
  panel = await open(t, { dataDirectory, env: { WEIR_SECRET_KEY: one.text } });
  t.is(await get(panel, 'ada'), 'token of ada');
  await panel.stop();
  for (const [keys, sealing] of [
    [[one], one],
    [[two, one], two],
  ] as const) {
    const env = { WEIR_SECRET_KEY: keys.map(({ text }) => text).join(', ') };
    const { said } = await weir(dataDirectory, ['secrets', 'rotate'], env);
    t.regex(said, /Leave only the first key in WEIR_SECRET_KEY/);
    t.deepEqual(await sealedWith(dataDirectory), [sealing.id]);
  }
  t.is((await keyLines(dataDirectory)).length, 1);
  await rm(keyFileIn(dataDirectory));
  panel = await open(t, { dataDirectory, env: { WEIR_SECRET_KEY: two.text } });
  t.is(await get(panel, 'ada'), 'token of ada');
  await panel.stop();
  const error = await t.throwsAsync(bootVault({ dataDirectory, env: { WEIR_SECRET_KEY: 'bm90IGEga2V5' } }));
  t.regex(error.message, /WEIR_SECRET_KEY.*32 bytes in base64/s);
  t.false(error.message.includes('bm90IGEga2V5'));
});

test('a key file without sealed values may be lost, and what is not in the list is not sealed', async (t) => {
  const dataDirectory = await folder(t);
  await (await bootVault({ dataDirectory })).stop();
  await rm(keyFileIn(dataDirectory));
  const panel = await open(t, { dataDirectory });
  await put(panel, 'ada', 'token of ada');
  t.is(await get(panel, 'ada'), 'token of ada');
  t.is(
    await get(panel, 'nobody'),
    'the secret in x_vault_tokens.token of nobody is not sealed; set it again',
  );
  await panel.stop();
});
