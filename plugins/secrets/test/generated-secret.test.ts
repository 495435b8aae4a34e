// Runs on every database in test:full.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  column,
  contribute,
  type Database,
  definePlugin,
  kernelErrors,
  type Log,
  type Plugin,
  singleton,
  table,
} from '../../../kernel/index.js';
import { dropDatabase } from '../../../test/harness/database.js';
import { GeneratedSecret, type SealedColumn, SealedColumns, Secrets, type SecretsApi } from '../contract.js';
import { keyFileIn } from '../key-file.js';
import { bootWith, keyLines, rowsOf, weir } from './vault.js';

const sealed: SealedColumn = { table: 'x_maker_keys', key: 'name', column: 'value' };
const ROWS = 'SELECT value FROM x_maker_keys';

class CookieKey extends GeneratedSecret {
  constructor(needs: { db: Database; secrets: SecretsApi; log: Log }) {
    super(needs, sealed, 'cookies');
  }
}

/** Keeps one generated secret; `made` is the one of the panel that runs now. */
function maker(): { readonly plugin: Plugin; readonly made: () => GeneratedSecret } {
  let secret: GeneratedSecret | undefined;
  const plugin = definePlugin({
    name: 'maker',
    version: '1.0.0',
    api: 1,
    about: 'Makes a secret.',
    uses: { secrets: Secrets },
    tables: { keys: table('x_maker_keys', { name: column.key<string>(), value: column.text() }) },
    migrations: [
      {
        name: '0001-keys',
        up: ({ text }) => [
          `CREATE TABLE x_maker_keys (name VARCHAR(64) PRIMARY KEY, value ${text} NOT NULL)`,
        ],
      },
    ],
    contributes: () => [contribute(SealedColumns, sealed)],
    services: { cookieKey: singleton(CookieKey) },
    start: ({ cookieKey }) => void (secret = cookieKey),
  });
  const made = () => {
    if (!secret) throw new Error('the plugin has not started');
    return secret;
  };
  return { plugin, made };
}

async function folder(t: ExecutionContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(path);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

test('is made when it is first needed, once, and is the same after a restart and a change of keys', async (t) => {
  const dataDirectory = await folder(t);
  const { plugin, made } = maker();
  const panel = await bootWith({ dataDirectory, outside: [plugin] });
  t.is(made().value, '');
  t.deepEqual(await rowsOf(dataDirectory, ROWS), []);
  const [value, again] = await Promise.all([made().make(), made().make()]);
  t.regex(value, /^[\w-]{43}$/);
  t.is(again, value);
  t.is((await weir(dataDirectory, ['secrets', 'rotate'])).code, 0);
  t.is(made().value, value);
  await panel.stop();
  const next = await bootWith({ dataDirectory, outside: [plugin] });
  t.is(made().value, value);
  t.is(await made().make(), value);
  t.is((await rowsOf(dataDirectory, ROWS)).length, 1);
  await next.stop();
});

test('one whose key was given up does not keep its plugin from starting, and is made again', async (t) => {
  const dataDirectory = await folder(t);
  const { plugin, made } = maker();
  const panel = await bootWith({ dataDirectory, outside: [plugin] });
  const lost = await made().make();
  const [line = ''] = await keyLines(dataDirectory);
  await panel.stop();
  await rm(keyFileIn(dataDirectory));
  const named = await t.throwsAsync(bootWith({ dataDirectory, outside: [plugin] }));
  const [, id = ''] = /WEIR_SECRET_FORGET=(\w+)/.exec(named.message) ?? [];
  t.false(line === '' || id === '', named.message);
  const next = await bootWith({ dataDirectory, outside: [plugin], env: { WEIR_SECRET_FORGET: id } });
  t.is(made().value, '');
  const value = await made().make();
  t.not(value, lost);
  await next.stop();
  const last = await bootWith({ dataDirectory, outside: [plugin] });
  t.is(made().value, value);
  await last.stop();
});

test('is made by one of two panels that need it at the same moment; the other one takes it over', async (t) => {
  const state = { value: '' };
  const failures: Error[] = [];
  let others = '';
  const db = {
    projection: () => ({ state }),
    write: async () => {
      const failure = failures.shift();
      if (others !== '' && failures.length === 0) state.value = others;
      if (failure) throw failure;
      state.value = 'own';
    },
  };
  const secretOf = () => {
    state.value = '';
    return new CookieKey({ db, secrets: {}, log: {} } as unknown as ConstructorParameters<
      typeof CookieKey
    >[0]);
  };
  const busy = (times: number) => Array.from({ length: times }, () => kernelErrors.DATABASE_BUSY());
  failures.push(...busy(4));
  t.is(await secretOf().make(), 'own', 'it lost against other writes');
  others = 'of another panel';
  failures.push(...busy(2));
  t.is(await secretOf().make(), others);
  others = '';
  failures.push(...busy(9));
  t.like(await t.throwsAsync(secretOf().make()), { code: 'KERNEL_DATABASE_BUSY' });
  t.is(failures.length, 4, 'not for ever');
  failures.length = 0;
  failures.push(kernelErrors.STORAGE());
  t.like(await t.throwsAsync(secretOf().make()), { code: 'KERNEL_STORAGE' });
});
