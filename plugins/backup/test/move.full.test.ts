// Runs on every database.
// A panel with 100,000 clients moves from SQLite to a database server and back.
import { onlyOn } from '../../../test/harness/left-out.js';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ExecutionContext } from 'ava';
import { SqliteFile } from '../../../panel/restore/sqlite-file.js';
import { databaseEnvironment, dropDatabase, onSqlite } from '../../../test/harness/database.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off', WEIR_LOG_LEVEL: 'info' };
const CLIENTS = 100_000;
const AT_ONCE = 1_000;
const RESTART_MS = 5 * 60_000;

async function start(t: ExecutionContext, isOnServer: boolean) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const database = isOnServer ? await databaseEnvironment(dataDirectory) : { WEIR_DATABASE_URL: '' };
  const panel = await ProgramPanel.start({ dataDirectory, env: { ...ENV, ...database } });
  t.teardown(async () => {
    await panel.stop();
    await dropDatabase(dataDirectory);
    await rm(dataDirectory, { recursive: true, force: true });
  });
  return Object.assign(panel, { dataDirectory });
}
type Panel = Awaited<ReturnType<typeof start>>;

async function timed<T>(t: ExecutionContext, what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  t.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

async function download(panel: Panel, path: string): Promise<void> {
  const response = await fetch(`${panel.url}/panel/api/server/getMigration`, {
    headers: { cookie: panel.cookie },
  });
  if (response.status !== 200) throw new Error(await response.text());
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
}

async function restore(t: ExecutionContext, from: Panel, to: Panel, path: string): Promise<void> {
  const before = to.log.length;
  const form = new FormData();
  form.append('secretsKey', await readFile(join(from.dataDirectory, 'secrets.key'), 'utf8'));
  form.append('db', new Blob([await readFile(path)]), 'backup.db');
  const response = await fetch(`${to.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: to.cookie, 'x-csrf-token': to.csrf },
    body: form,
  });
  t.is(response.status, 200, await response.text());
  await to.until(
    () => to.log.slice(before).some(({ msg }) => msg === 'the panel started again'),
    'the panel started again',
    RESTART_MS,
  );
  await to.login();
}

/** Sums and a digest of what each client has. */
async function factsOf(path: string): Promise<unknown> {
  const file = await SqliteFile.open(path);
  try {
    return await file.rows(
      `SELECT (SELECT count(*) FROM clients) AS clients, (SELECT sum(id) FROM clients) AS ids,
              (SELECT sum(total_gb) FROM clients) AS quotas, (SELECT sum(expiry_time) FROM clients) AS expiries,
              (SELECT group_concat(email || uuid || sub_id) FROM (SELECT * FROM clients ORDER BY id LIMIT 1000)) AS some,
              (SELECT count(*) FROM client_inbounds) AS attached`,
    );
  } finally {
    await file.close();
  }
}

onlyOn(!onSqlite, 'a database server')('100,000 clients move to a server and back', async (t) => {
  t.timeout(30 * 60_000);
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const [first, second, third] = [await start(t, false), await start(t, true), await start(t, false)];
  const id = await first.addInbound();
  await timed(t, 'creating clients', async () => {
    for (let n = 0; n < CLIENTS; n += AT_ONCE)
      await first.get('/panel/api/clients/bulkCreate', {
        body: Array.from({ length: AT_ONCE }, (_, i) => ({
          client: {
            email: `client-${n + i}`,
            totalGB: (n + i) * 1024,
            expiryTime: 4_000_000_000_000 + n + i,
          },
          inboundIds: [id],
        })),
      });
  });
  const path = (name: number) => join(folder, `${name}.db`);
  await timed(t, 'copy of SQLite', () => download(first, path(1)));
  await timed(t, 'restore to the server', () => restore(t, first, second, path(1)));
  await timed(t, 'copy of the server', () => download(second, path(2)));
  await timed(t, 'restore to SQLite', () => restore(t, second, third, path(2)));
  await timed(t, 'copy of SQLite', () => download(third, path(3)));
  const facts = await factsOf(path(1));
  t.like((facts as object[])[0], { clients: CLIENTS, attached: CLIENTS });
  t.deepEqual(await factsOf(path(2)), facts);
  t.deepEqual(await factsOf(path(3)), facts);
});
