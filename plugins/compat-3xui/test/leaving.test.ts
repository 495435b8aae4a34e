// Runs on every database in test:full.
// Who came from 3x-ui goes back: what `weir export 3x-ui` writes is the old panel's own export.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { folderFor } from '../../../test/harness/folder-for.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { oldPanel, type OldClient, type OldInbound } from './old-export.js';

const read = async <T>(...path: readonly string[]): Promise<T> =>
  JSON.parse(await readFile(join(...path), 'utf8')) as T;

/** The panel's own API, as programs of the old panel use it. */
async function moveIn(
  panel: TestPanel,
  { clients, inbounds }: Awaited<ReturnType<typeof oldPanel>>,
): Promise<void> {
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

test('the way back restores the export of the old panel', async (t) => {
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
    const withoutIds = (stats: OldInbound['clientStats']) =>
      stats
        .toSorted((a, b) => (a.email < b.email ? -1 : 1))
        .map(({ id: _id, inboundId: _inboundId, resetCount: _count, ...rest }) => rest);
    t.deepEqual(withoutIds(foundStats), withoutIds(clientStats), file);
  }
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.is((await stat(join(folder, 'clients', '001.json'))).mode & 0o777, 0o600);
  t.deepEqual(panel.faults, []);
});
