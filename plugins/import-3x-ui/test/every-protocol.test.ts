// Runs on every database in test:full.
// Inbounds and clients of every protocol move in with their credentials, and the template of the core.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { inboundBodies, TAKES_NO_CLIENTS } from '../../../test/harness/inbound-bodies.js';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { selfSigned } from '../../../test/harness/self-signed.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { copyOf, reasons, send, tableOf, unaccounted } from './database.js';

const API = '/panel/api';
const CLIENTS = 6;
/** On 3x-ui these have logins of their own, and no clients. */
const WITH_LOGINS = ['http', 'mixed'];

type Values = Readonly<Record<string, unknown>>;
interface OldInbound extends Values {
  readonly protocol: string;
  readonly port: number;
  readonly settings: { readonly clients?: readonly Values[] };
}

const boot = (): Promise<TestPanel> =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(),
    env: { WEIR_PUBLIC_HOST: 'localhost' },
  });

const quoted = (value: unknown): string =>
  value === undefined || value === null
    ? 'NULL'
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(Number(value))
      : `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
const insert = (table: string, values: Values): string =>
  `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).map(quoted).join(', ')});\n`;

/** A panel with an inbound of each protocol, each client in each of them. */
async function fill(t: ExecutionContext, panel: TestPanel): Promise<void> {
  const ids: number[] = [];
  for (const body of await inboundBodies(await folderFor(t), selfSigned())) {
    const hasLogins = WITH_LOGINS.includes(body.protocol);
    const id = await panel.addInbound({
      ...body,
      port: await freePort(),
      ...(hasLogins && { settings: { auth: 'password', accounts: [{ user: 'ann', pass: 'secret' }] } }),
    });
    if (!hasLogins && !TAKES_NO_CLIENTS.includes(body.protocol)) ids.push(id);
  }
  for (let i = 0; i < CLIENTS; i++)
    await panel.get(`${API}/clients/add`, {
      body: { client: { email: `client${i}@every.example` }, inboundIds: ids },
    });
}

/** The rows of 3x-ui for what a panel writes for it. */
async function rowsOf(t: ExecutionContext, panel: TestPanel): Promise<string> {
  const folder = join(await folderFor(t), 'to-3x-ui');
  const { code, complained } = await weirCommand(panel.dataDirectory, ['export', '3x-ui', folder]);
  t.is(code, 0, complained);
  const read = async <T>(...path: string[]): Promise<T> =>
    JSON.parse(await readFile(join(folder, ...path), 'utf8')) as T;
  let sql = 'DELETE FROM inbounds; DELETE FROM clients; DELETE FROM client_inbounds;';
  sql += 'DELETE FROM client_traffics; DELETE FROM hosts; DELETE FROM client_groups;\n';
  const clientsOf = new Map<number, ReadonlyMap<unknown, Values>>();
  for (const [i, file] of (await readdir(join(folder, 'inbounds'))).sort().entries()) {
    const inbound = await read<OldInbound>('inbounds', file);
    const { protocol, port, settings, streamSettings, sniffing, tag, remark, listen, enable } = inbound;
    clientsOf.set(i + 1, new Map(settings.clients?.map((client) => [client['email'], client])));
    sql += insert('inbounds', {
      ...{ id: i + 1, user_id: 1, up: 0, down: 0, total: 0, expiry_time: 0 },
      ...{ protocol, port, tag, remark, listen, enable, settings, sniffing },
      ...{ stream_settings: streamSettings, sub_sort_index: inbound['subSortIndex'] },
      disable_flow: inbound['disableFlow'],
    });
  }
  const items = await read<{ client: Values; inboundIds: number[] }[]>('clients', '001.json');
  for (const [i, { client, inboundIds }] of items.entries()) {
    const { email, subId, id, password, auth, security } = client;
    sql += insert('clients', {
      ...{ id: i + 1, sub_id: subId, uuid: id, email, password, auth, security },
      ...{ limit_ip: 0, total_gb: 0, expiry_time: 0, enable: 1, group_name: '', flow: '' },
    });
    for (const inboundId of inboundIds) {
      const entry = clientsOf.get(inboundId)?.get(email);
      sql += insert('client_inbounds', {
        client_id: i + 1,
        inbound_id: inboundId,
        flow_override: entry?.['flow'] ?? '',
      });
    }
  }
  return sql;
}

const linksOf = async (panel: TestPanel): Promise<string[][]> =>
  Promise.all(
    Array.from({ length: CLIENTS }, (_, i) =>
      panel.get<string[]>(`${API}/clients/links/${encodeURIComponent(`client${i}@every.example`)}`),
    ),
  );

/** The inbounds as they are, and their clients but for what each panel has of its own. */
async function shown(panel: TestPanel) {
  const list = await panel.get<{ id: number }[]>(`${API}/inbounds/list`);
  const inbounds = await Promise.all(
    list.map(({ id }) => panel.get<OldInbound>(`${API}/inbounds/get/${id}`)),
  );
  return inbounds.map(({ protocol, port, settings, streamSettings, sniffing }) => {
    // A key of shadowsocks that came from the password is there as a key: links have it.
    const clients = settings.clients?.map(
      ({ created_at: _created, updated_at: _updated, password: _password, ...client }) => client,
    );
    return { protocol, port, settings: { ...settings, clients }, streamSettings, sniffing };
  });
}

test('credentials of every protocol come along', async (t) => {
  await using old = await boot();
  await fill(t, old);
  const path = await copyOf(t, await rowsOf(t, old));
  await using panel = await boot();
  const { body } = await send(panel, path);
  t.deepEqual(unaccounted(body.obj), []);
  t.deepEqual(reasons(body.obj, 'inbounds'), []);
  t.deepEqual(reasons(body.obj, 'clients'), []);
  const wanted = await linksOf(old);
  t.true((wanted[0]?.length ?? 0) > 8, JSON.stringify(wanted[0]));
  t.deepEqual(await linksOf(panel), wanted);

  t.deepEqual(await shown(panel), await shown(old));
});

test('logins that a panel like this one gave to its clients stay behind, and the inbound comes', async (t) => {
  const accounts = [
    { user: 'ann', pass: 'secret' },
    { user: 'i8.c1', pass: 'of a client' },
  ];
  const row = {
    ...{ id: 90, user_id: 1, up: 0, down: 0, total: 0, expiry_time: 0, listen: '127.0.0.1', enable: 1 },
    ...{ protocol: 'http', port: await freePort(), tag: 'proxy', remark: 'proxy', settings: { accounts } },
  };
  await using panel = await boot();
  const { body } = await send(panel, await copyOf(t, insert('inbounds', row)));
  t.deepEqual(reasons(body.obj, 'inbounds'), []);
  t.regex(JSON.stringify(tableOf(body.obj, 'inbounds').changed), /proxy, 1 logins/);
  const proxy = (await shown(panel)).find(({ protocol }) => protocol === 'http');
  t.like(proxy?.settings, { accounts: accounts.slice(0, 1) });
});

test('the template of the core comes along, unless this panel has its own', async (t) => {
  const template = (tag: string): string =>
    JSON.stringify({
      log: { loglevel: 'error' },
      outbounds: [
        { tag: 'direct', protocol: 'freedom' },
        { tag, protocol: 'blackhole' },
      ],
      routing: { rules: [{ type: 'field', protocol: ['bittorrent'], outboundTag: tag }] },
    });
  const withTemplate = (tag: string): Promise<string> =>
    copyOf(t, insert('settings', { key: 'xrayTemplateConfig', value: template(tag) }));
  await using panel = await boot();
  const shown = async (): Promise<{ xraySetting: Values }> =>
    JSON.parse(await panel.get<string>(`${API}/xray/`, { body: {} })) as { xraySetting: Values };
  const { body } = await send(panel, await withTemplate('nowhere'));
  t.regex(JSON.stringify(tableOf(body.obj, 'settings').changed), /the template of the core/);
  t.deepEqual((await shown()).xraySetting, JSON.parse(template('nowhere')));

  const again = await send(panel, await withTemplate('elsewhere'));
  t.regex(String(reasons(again.body.obj, 'settings')), /has a template of its own, which stays/);
  t.deepEqual((await shown()).xraySetting, JSON.parse(template('nowhere')));

  const broken = await send(
    panel,
    await copyOf(t, insert('settings', { key: 'xrayTemplateConfig', value: '{' })),
  );
  t.regex(String(reasons(broken.body.obj, 'settings')), /template|JSON/);
});
