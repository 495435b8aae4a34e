// The log of a real core, as an admin sees it.
import { appendFile, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { CorePanel } from '../../../test/engine/core-panel.js';
import { connect, openPanel, openServer } from '../../../test/engine/user.js';

interface Entry {
  readonly DateTime: string;
  readonly FromAddress: string;
  readonly ToAddress: string;
  readonly Inbound: string;
  readonly Outbound: string;
  readonly Email: string;
  readonly Event: number;
}

test('connections have the emails of clients, and are filtered', async (t) => {
  // The server of the test is on loopback.
  const [panel, server] = [await openPanel(t), await openServer(t)];
  const inboundId = await panel.addInbound();
  const log = (count: number, body: object = {}) =>
    panel.get<Entry[]>(`/panel/api/server/enginelogs/${count}`, { body });
  t.deepEqual(await log(10), []);
  await panel.addClient('Ann@example.com', [inboundId]);
  await panel.addClient('ben', [inboundId]);
  const begun = Date.now();
  for (const email of ['Ann@example.com', 'ben', 'ben'])
    await (await connect(t, panel, email, server)).download(1000);
  await panel.until(async () => (await log(10)).length === 3, 'three connections are in the log');

  const entries = await log(10);
  t.deepEqual(
    entries.map(({ Email, Event, Outbound }) => [Email, Event, Outbound]),
    [
      ['Ann@example.com', 0, 'direct'],
      ['ben', 0, 'direct'],
      ['ben', 0, 'direct'],
    ],
  );
  const [first] = entries;
  t.is(first?.ToAddress, `tcp:${server.host}:${server.port}`);
  t.regex(first?.FromAddress ?? '', /^127\.0\.0\.1:\d+$/);
  const [{ tag = '' } = {}] = await panel.get<{ tag?: string }[]>('/panel/api/inbounds/list');
  t.is(first?.Inbound, tag);
  const at = Date.parse(first?.DateTime ?? '');
  t.true(at >= begun - 1000 && at <= Date.now(), first?.DateTime);

  t.deepEqual(await log(2), entries.slice(1), 'the last ones, oldest first');
  t.deepEqual(await log(10, { filter: 'ANN@' }), entries.slice(0, 1));
  t.deepEqual(await log(10, { filter: 'nobody' }), []);
  t.deepEqual(await log(10, { showDirect: false }), []);
  t.is((await log(10, { showBlocked: false, showProxy: false })).length, 3);
  const form = await panel.call('/panel/api/server/enginelogs/10', {
    rawBody: 'filter=ben&showBlocked=false&showDirect=true',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.deepEqual(form.body.obj, entries.slice(1));

  await panel.get('/panel/api/clients/del/ben', { method: 'POST' });
  const [, deleted] = await log(10);
  t.regex(deleted?.Email ?? '', /^i\d+\.c\d+$/, 'a deleted client has the name that the core knows');
  for (const count of ['0', '-1', '10001', 'x'])
    t.is((await panel.call(`/panel/api/server/enginelogs/${count}`, { body: {} })).status, 400, count);
  t.is((await panel.call('/panel/api/server/enginelogs/10', { body: { showDirect: 'maybe' } })).status, 400);
  t.is(
    (await panel.call('/panel/api/server/enginelogs/10', { method: 'POST' })).status,
    200,
    'without a body',
  );
});

const lineAt = (number: number, mark: string): string =>
  `2026/11/21 05:24:${String(number % 60).padStart(2, '0')}.000001 from 10.0.0.1:${1000 + (number % 60_000)} accepted tcp:host${number}.example.com:443 [in >> direct] email: i9.c9${mark}\n`;
/** Of the names of users in the core. */
const markOf = ({ dataDirectory }: CorePanel): Promise<string> =>
  readFile(join(dataDirectory, 'engine', 'name-mark'), 'utf8');

test('entries are read over a cut of the log, each once', async (t) => {
  const [panel, server] = [await openPanel(t), await openServer(t)];
  const inboundId = await panel.addInbound();
  await panel.addClient('ann', [inboundId]);
  const user = await connect(t, panel, 'ann', server);
  const path = join(panel.dataDirectory, 'engine', 'access.log');
  const mark = await markOf(panel);
  const targets = async (count: number) =>
    (await panel.get<Entry[]>(`/panel/api/server/enginelogs/${count}`, { body: { filter: 'ann' } })).map(
      ({ FromAddress }) => FromAddress,
    );
  await panel.get('/panel/api/setting/update', { body: { engineLogSize: 1, engineLogFiles: 2 } });
  for (let round = 1; round <= 3; round++) {
    await user.download(1000);
    await panel.until(async () => (await targets(10)).length === round, 'the core has logged it');
    await appendFile(path, Array.from({ length: 10_000 }, (_, i) => lineAt(i, mark)).join(''));
    await panel.call('/panel/api/system/jobs/engine/trim-logs', { method: 'POST' });
    await panel.until(async () => (await stat(path)).size < 100_000, 'the log is cut');
    t.is((await stat(`${path}.1`)).mode & 0o777, 0o600);
  }
  await user.download(1000);
  await panel.until(async () => (await targets(10)).length === 3, 'the oldest part is gone');
  const found = await targets(10);
  t.is(new Set(found).size, 3, 'none is there twice');
  await t.throwsAsync(stat(`${path}.3`), { code: 'ENOENT' });
  await panel.get('/panel/api/setting/update', { body: { engineLogFiles: 0 } });
  await panel.call('/panel/api/system/jobs/engine/trim-logs', { method: 'POST' });
  await panel.until(async () => (await targets(10)).length === 1, 'no part is kept any more');
  const refused = await panel.call('/panel/api/setting/update', { body: { engineLogSize: 0 } });
  t.regex(refused.body.msg, /engineLogSize/);
});

test('a log of 1 GiB costs its last lines', async (t) => {
  const panel = await openPanel(t);
  // An older part: the newest one would be cut.
  const path = join(panel.dataDirectory, 'engine', 'access.log.1');
  const file = await open(path, 'w', 0o600);
  const mark = await markOf(panel);
  const lines = Array.from({ length: 120_000 }, (_, i) => lineAt(i, mark)).join('');
  await file.write(lines, 2 ** 30 - Buffer.byteLength(lines));
  await file.close();
  t.is((await stat(path)).size, 2 ** 30);
  const call = async (count: number, body: object): Promise<Entry[]> => {
    const [begun, before] = [performance.now(), process.memoryUsage.rss()];
    const entries = await panel.get<Entry[]>(`/panel/api/server/enginelogs/${count}`, { body });
    const [ms, grown] = [performance.now() - begun, process.memoryUsage.rss() - before];
    t.log(`${JSON.stringify(body)}: ${entries.length} entries in ${Math.round(ms)} ms, ${grown >> 20} MiB`);
    t.true(grown < 32 * 2 ** 20, `${grown} bytes`);
    return entries;
  };
  // The first calls of a process take memory for code.
  for (const filter of ['', 'host', 'nowhere'])
    await panel.get('/panel/api/server/enginelogs/1000', { body: { filter } });
  const last = await call(100, {});
  t.is(last.length, 100);
  t.is(last.at(-1)?.ToAddress, 'tcp:host119999.example.com:443');
  t.deepEqual(await call(100, { filter: 'nowhere' }), []);
  t.is((await call(100, { filter: 'HOST119' })).length, 100);
  t.deepEqual(await call(100, { showDirect: false }), []);
});
