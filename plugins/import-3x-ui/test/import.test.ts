// Runs on every database in test:full.
// A real database of 3x-ui moves in: equal sums, the same connections, tokens and passwords.
import { createHash } from 'node:crypto';
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { copyOf, printedLinks, query, reasons, send, tableOf, unaccounted } from './database.js';

/** When the fixture was made. */
const THEN = 1_795_304_420_000;
const API = '/panel/api';
/** Of the inbound with REALITY; 3x-ui prints one of them by chance. */
const SHORT_IDS = ['abcd1234', ''];
const boot = (options: Parameters<typeof TestPanel.boot>[0] = {}): Promise<TestPanel> =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(THEN),
    env: { WEIR_PUBLIC_HOST: 'localhost' },
    ...options,
  });

interface Shown {
  readonly email: string;
  readonly subId: string;
  readonly uuid: string;
  readonly password: string;
  readonly group: string;
  readonly comment: string;
  readonly enable: boolean;
  readonly tgId: number;
  readonly limitIp: number;
  readonly reset: number;
  readonly totalGB: number;
  readonly expiryTime: number;
  readonly inboundIds: readonly number[];
  readonly traffic: { readonly up: number; readonly down: number; readonly resetCount: number } | null;
}

/** What a client program reads from a link, by name. */
function connectionOf(link: string): Record<string, unknown> {
  if (link.startsWith('vmess://'))
    return JSON.parse(Buffer.from(link.slice('vmess://'.length), 'base64').toString()) as Record<
      string,
      unknown
    >;
  const { protocol, username, password, host, searchParams, hash } = new URL(link);
  const { encryption, ...fields } = Object.fromEntries(searchParams);
  return {
    ...fields,
    // `none` is what a link says by leaving it out.
    ...(encryption !== undefined && encryption !== 'none' && { encryption }),
    ...{ protocol, username, password, host, name: decodeURIComponent(hash) },
  };
}

test('a dry run says what would be taken, and writes nothing', async (t) => {
  await using panel = await boot();
  const before = await panel.get(`${API}/clients/list/paged`);
  const { body } = await send(panel, await copyOf(t), { dryRun: 'true' });
  t.is(body.msg, '7 inbounds and 40 clients would be taken');
  t.true(body.obj.dryRun);
  t.deepEqual(body.obj.sums, []);
  t.deepEqual(unaccounted(body.obj), []);
  t.like(tableOf(body.obj, 'clients'), { found: 40, taken: 40, present: 0, left: [] });
  t.deepEqual(await panel.get(`${API}/clients/list/paged`), before);
  t.deepEqual(await panel.get(`${API}/inbounds/list`), []);
  t.deepEqual(await panel.get(`${API}/hosts/list`), []);
});

test('the database moves in with equal sums, and a second run takes nothing', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t);
  const { body } = await send(panel, path);
  t.is(body.msg, '7 inbounds and 40 clients taken; all sums are equal');
  t.deepEqual(unaccounted(body.obj), []);
  for (const { name, there, here } of body.obj.sums) t.is(here, there, name);
  t.deepEqual(
    body.obj.sums
      .filter(({ name }) => /^(?:clients|attachments|bytes up|bytes down)$/.test(name))
      .map(({ there }) => there),
    [40, 186, 267_386_964, 802_160_772],
  );
  const rows = await query<Record<string, number | string>>(
    path,
    `SELECT c.email, c.sub_id, c.uuid, c.group_name, c.comment, c.tg_id, c.limit_ip, c.reset, t.total, t.expiry_time, t.up, t.down, t.reset_count, t.enable,
       (SELECT count(*) FROM client_inbounds a WHERE a.client_id = c.id) AS attached FROM clients c JOIN client_traffics t ON t.email = c.email`,
  );
  const here = new Map(
    (await panel.get<Shown[]>(`${API}/clients/list`)).map((client) => [client.email, client]),
  );
  t.is(here.size, rows.length);
  for (const row of rows) {
    const client = here.get(String(row['email']));
    t.deepEqual(
      client && [
        ...[
          client.subId,
          client.uuid,
          client.group,
          client.comment,
          client.tgId,
          client.limitIp,
          client.reset,
        ],
        ...[client.totalGB, client.expiryTime, client.traffic?.up ?? 0, client.traffic?.down ?? 0],
        ...[client.traffic?.resetCount ?? 0, Number(client.enable), client.inboundIds.length],
      ],
      [
        ...['sub_id', 'uuid', 'group_name', 'comment', 'tg_id', 'limit_ip', 'reset'].map((name) => row[name]),
        ...['total', 'expiry_time', 'up', 'down', 'reset_count', 'enable', 'attached'].map(
          (name) => row[name],
        ),
      ] as never,
    );
  }
  const again = await send(panel, path);
  t.is(again.body.msg, '0 inbounds and 0 clients taken; all sums are equal');
  t.deepEqual(unaccounted(again.body.obj), []);
  t.is(
    again.body.obj.tables.reduce((sum, { taken }) => sum + taken, 0),
    0,
  );
});

test('every link is the same connection', async (t) => {
  // Hosts take the place of the inbound in links, here and there; the printed links are without them.
  await using panel = await boot({ without: ['hosts'] });
  const { body } = await send(panel, await copyOf(t));
  t.deepEqual(reasons(body.obj, 'hosts'), ['this panel runs without the plugin hosts']);
  t.like(tableOf(body.obj, 'hosts'), { found: 4, taken: 0 });
  const inbounds = await panel.get<{ id: number; port: number; enable: boolean }[]>(`${API}/inbounds/list`);
  // 3x-ui prints links of disabled inbounds as well.
  for (const { id, enable } of inbounds)
    if (!enable) await panel.get(`${API}/inbounds/setEnable/${id}`, { body: { enable: true } });
  let compared = 0;
  for (const [email, printed] of Object.entries(await printedLinks())) {
    const links = await panel.get<string[]>(`${API}/clients/links/${encodeURIComponent(email)}`);
    t.is(links.length, printed.length, email);
    for (const [i, link] of printed.entries()) {
      const wanted = connectionOf(link);
      const found = connectionOf(links[i] ?? 'none:');
      const names = [...new Set([...Object.keys(wanted), ...Object.keys(found)])];
      for (const name of names)
        if (name === 'sid') t.true(SHORT_IDS.includes(String(found[name])), `${email}: ${name} of ${link}`);
        else t.is(found[name], wanted[name], `${email}: ${name} of ${link}`);
      compared++;
    }
  }
  t.is(compared, 186);
});

test('groups and hosts come along', async (t) => {
  await using panel = await boot();
  await send(panel, await copyOf(t));
  const groups = await panel.get<{ name: string; clientCount: number }[]>(`${API}/clients/groups`);
  t.deepEqual(
    groups.map(({ name, clientCount }) => [name, clientCount]),
    [
      ['gold', 4],
      ['silver & co', 0],
    ],
  );
  const [host, ...others] = await panel.get<Record<string, unknown>[]>(`${API}/hosts/list`);
  t.is(others.length, 0);
  t.like(host, {
    groupId: '3l4jnzvu5w83u74x',
    hosts: ['a.example.com', 'b.example.com'],
    inboundIds: [1, 2],
    port: 443,
    tags: ['EU'],
  });
});

test('a bot keeps its token, also one that an older version stored as it is', async (t) => {
  const bot = 'Zx81kQ0pLmN2rTtY7uVwAbCdEfGh';
  const older = 'PlainTokenOfAnOlderVersion000000000000000000000z';
  const path = await copyOf(
    t,
    `INSERT INTO api_tokens (name, token, enabled, created_at, scope, expires_at) VALUES
      ('bot', '${createHash('sha256').update(bot).digest('hex')}', 1, 1795304414, 'admin', 0),
      ('older', '${older}', 1, 1795304414000, 'admin', 0),
      ('off', '${createHash('sha256').update('off').digest('hex')}', 0, 1795304414, 'admin', 0),
      ('watch', '${createHash('sha256').update('watch').digest('hex')}', 1, 1795304414, 'monitor', 0),
      ('central', '${createHash('sha256').update('central').digest('hex')}', 1, 1795304414, 'node-sync', 0);`,
  );
  await using panel = await boot();
  await panel.get(`${API}/setting/apiTokens/create`, { body: { name: 'bot' } });
  const { body } = await send(panel, path);
  const status = async (token: string): Promise<number> =>
    (
      await panel.call(`${API}/clients/list/paged`, {
        anonymous: true,
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  t.is(await status(bot), 200);
  t.is(await status(older), 200);
  t.is(await status('off'), 401);
  t.is(await status('watch'), 401);
  t.is(await status('central'), 403, 'of the kind node');
  t.deepEqual(reasons(body.obj, 'api_tokens'), ['this panel has no tokens of the scope monitor']);
  const names = (await panel.get<{ name: string }[]>(`${API}/setting/apiTokens`)).map(({ name }) => name);
  t.deepEqual(names.sort(), ['bot', 'bot (2)', 'central', 'off', 'old-token', 'older']);
});

test('an admin logs in with the old password, which is hashed again', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t, `UPDATE users SET username = 'olga'`);
  await send(panel, path);
  const login = (password: string) =>
    panel.call('/login', { anonymous: true, body: { username: 'olga', password } });
  t.is((await login('wrong')).status, 401);
  t.is((await login('admin')).status, 200);
  t.is((await login('admin')).status, 200);
  t.is((await login('wrong')).status, 401);
  // Of the admin that is here, name and password stay.
  const { body } = await send(panel, await copyOf(t));
  t.deepEqual(reasons(body.obj, 'users'), ['an admin of this name is here, whose password stays']);
});
