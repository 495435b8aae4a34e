// Runs on every database in test:full.
// Who came from 3x-ui goes back: what `weir export 3x-ui` writes is the old panel's own export.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { copyOf, send } from '../../import-3x-ui/test/database.js';
import { oldPanel, type OldClient, type OldInbound } from './old-export.js';

type Old = Awaited<ReturnType<typeof oldPanel>>;
/** Ids of rows are new in each panel. */
const OF_ROWS = ['id', 'inboundId'];

const read = async <T>(...path: readonly string[]): Promise<T> =>
  JSON.parse(await readFile(join(...path), 'utf8')) as T;

/** The panel's own API, as programs of the old panel use it. */
async function byApi(panel: TestPanel, { clients, inbounds }: Old): Promise<void> {
  const stats = new Map(inbounds.flatMap(({ clientStats }) => clientStats.map((stat) => [stat.email, stat])));
  const items = clients.map(({ client }) => {
    const {
      up = 0,
      down = 0,
      expiryTime = client['expiryTime'],
    } = stats.get(client['email'] as string) ?? {};
    // The old panel acts on the time in its counters: a renewal reaches only one of its copies.
    return { client: { ...client, expiryTime }, inboundIds: null, traffic: { up, down } };
  });
  const imported = await panel.get<{ created: number }>('/panel/api/clients/import', {
    body: { data: JSON.stringify(items) },
  });
  if (imported.created !== clients.length) throw new Error(JSON.stringify(imported));
  for (const inbound of inbounds)
    await panel.get('/panel/api/inbounds/import', {
      rawBody: new URLSearchParams({ data: JSON.stringify(inbound) }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
}

async function leave(t: ExecutionContext, panel: TestPanel): Promise<string> {
  const folder = join(await folderFor(t), 'to-3x-ui');
  const { code, complained } = await weirCommand(panel.dataDirectory, ['export', '3x-ui', folder]);
  t.is(code, 0, complained);
  return folder;
}

async function restores(
  t: ExecutionContext,
  moveIn: (panel: TestPanel, old: Old) => Promise<void>,
  without: readonly string[],
): Promise<void> {
  const old = await oldPanel();
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(old.madeAt),
  });
  await moveIn(panel, old);
  const folder = await leave(t, panel);
  const written = await read<OldClient[]>(folder, 'clients', '001.json');
  // Where it differs, the old panel's own value was wrong: see docs/leaving.md.
  const renewed = new Map(
    old.inbounds.flatMap(({ clientStats }) =>
      clientStats.map(({ email, expiryTime }) => [email, expiryTime]),
    ),
  );
  const expected = old.clients.map(({ client, inboundIds }) => ({
    client: {
      ...client,
      security: client['security'] || 'auto',
      expiryTime: renewed.get(client['email'] as string),
    },
    inboundIds,
  }));
  t.deepEqual(written, expected as OldClient[]);

  const files = (await readdir(join(folder, 'inbounds'))).sort();
  t.is(files.length, old.inbounds.length);
  for (const [i, file] of files.entries()) {
    const { originNodeGuid: _, clientStats, settings, ...inbound } = old.inbounds[i] as OldInbound;
    const found = await read<OldInbound>(folder, 'inbounds', file);
    const { clientStats: foundStats, settings: foundSettings, ...rest } = found;
    t.deepEqual(rest, inbound as typeof rest, file);
    const { clients, ...own } = settings;
    const { clients: foundClients, ...foundOwn } = foundSettings;
    t.deepEqual(foundOwn, own, file);
    const byEmail = new Map(old.clients.map(({ client }) => [client['email'], client]));
    t.deepEqual(
      foundClients,
      clients.map(({ password, ...client }) => ({
        ...client,
        // The old panel left passwords in inbounds whose protocol has none.
        ...(['trojan', 'shadowsocks'].includes(String(inbound['protocol'])) && { password }),
        security: client['security'] || 'auto',
        expiryTime: renewed.get(client['email'] as string),
        updated_at: byEmail.get(client['email'])?.['updated_at'],
      })),
      file,
    );
    // The order there is that of its own rows.
    const compared = (stats: OldInbound['clientStats']) =>
      stats
        .toSorted((a, b) => (a.email < b.email ? -1 : 1))
        .map((stat) => Object.fromEntries(Object.entries(stat).filter(([name]) => !without.includes(name))));
    t.deepEqual(compared(foundStats), compared(clientStats), file);
  }
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.is((await stat(join(folder, 'clients', '001.json'))).mode & 0o777, 0o600);
  t.deepEqual(panel.faults, []);
}

test('the way back restores the export of a panel whose programs moved in over the API', (t) =>
  // The API takes no count of renewals.
  restores(t, byApi, [...OF_ROWS, 'resetCount']));

test('the way back restores the export of a panel whose database moved in', (t) =>
  restores(
    t,
    async (panel) => {
      const { body } = await send(panel, await copyOf(t));
      t.is(body.msg, '7 inbounds and 40 clients taken; all sums are equal');
    },
    OF_ROWS,
  ));
