// Runs on every database in test:full.
// Tables that the real database has no rows in, an older version, and rows that belong to nothing.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { copyOf, query, reasons, send, tableOf, unaccounted } from './database.js';

const THEN = 1_795_304_420_000;
const API = '/panel/api';
const boot = (options: Parameters<typeof TestPanel.boot>[0] = {}): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock(THEN), ...options });

/** A version before 3.0: clients are in the settings of their inbound alone. */
const OLDER = `
  DROP TABLE clients; DROP TABLE client_inbounds; DROP TABLE hosts; DROP TABLE client_groups; DROP TABLE nodes;
  DROP TABLE api_tokens; DROP TABLE client_hwids; DROP TABLE client_external_links; DROP TABLE inbound_fallbacks;
  DROP TABLE node_client_traffics; DROP TABLE node_client_ips; DROP TABLE client_global_traffics; DROP TABLE outbound_subscriptions;
  DELETE FROM inbounds; DELETE FROM client_traffics;
  ALTER TABLE inbounds DROP COLUMN sub_sort_index; ALTER TABLE inbounds DROP COLUMN disable_flow;
  ALTER TABLE client_traffics DROP COLUMN last_sub_fetch; ALTER TABLE client_traffics DROP COLUMN reset_count;
  INSERT INTO inbounds (id, up, down, total, remark, enable, expiry_time, listen, port, protocol, settings, stream_settings, tag, sniffing) VALUES
    (3, 7, 9, 0, 'old', 1, 0, '', 21201, 'vless', '{"clients":[{"id":"11111111-1111-4111-8111-111111111111","email":"Ann","subId":"same","enable":true,"limitIp":2,"totalGB":1000,"expiryTime":-86400000,"tgId":"","reset":0},{"id":"22222222-2222-4222-8222-222222222222","email":"bob","subId":"","enable":true,"totalGB":0,"expiryTime":0,"tgId":5}],"decryption":"none"}', '{"network":"tcp","security":"none"}', 'inbound-21201', ''),
    (4, 0, 0, 0, 'second', 1, 0, '', 21202, 'trojan', '{"clients":[{"password":"pass-of-ann-2","email":"Ann-2","subId":"same","enable":true}]}', '{"network":"tcp","security":"none"}', 'inbound-21202', '{}'),
    (5, 0, 0, 0, 'proxy', 1, 0, '', 21203, 'socks', '{"auth":"password","accounts":[{"user":"u","pass":"p"}],"udp":false}', '', 'inbound-21203', '{}');
  INSERT INTO client_traffics (inbound_id, enable, email, up, down, expiry_time, total) VALUES
    (3, 1, 'Ann', 30, 40, 1795404420000, 1000), (3, 1, 'bob', 1, 2, 0, 0), (4, 1, 'Ann-2', 5, 6, 0, 0), (9, 1, 'gone', 1, 1, 0, 0);
  UPDATE users SET username = 'olga', password = 'plain text of 2023';`;

test('takes a version that keeps its clients inside the inbounds', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t, OLDER);
  const { body } = await send(panel, path);
  t.is(body.msg, '3 inbounds and 3 clients taken; all sums are equal');
  t.deepEqual(unaccounted(body.obj), []);
  t.deepEqual(reasons(body.obj, 'client_traffics'), ['no client has this email']);
  t.regex(String(reasons(body.obj, 'users')), /bcrypt/);
  const ann = await panel.get<Record<string, unknown>>(`${API}/clients/get/Ann`);
  t.like(ann, { subId: 'same', limitIp: 2, totalGB: 1000, expiryTime: 1_795_404_420_000 });
  t.like(ann['traffic'], { up: 30, down: 40 });
  t.is((await panel.get<{ subId: string }>(`${API}/clients/get/Ann-2`)).subId, 'same', 'shares its subId');
  t.not((await panel.get<{ subId: string }>(`${API}/clients/get/bob`)).subId, '');
  const inbounds = await panel.get<{ protocol: string; up: number; down: number }[]>(`${API}/inbounds/list`);
  t.deepEqual(
    inbounds.map(({ protocol, up, down }) => [protocol, up, down]),
    [
      ['vless', 7, 9],
      ['trojan', 0, 0],
      ['mixed', 0, 0],
    ],
  );
  const again = await send(panel, path);
  t.is(again.body.msg, '0 inbounds and 0 clients taken; all sums are equal');
});

const SIDE = `
  UPDATE clients SET comment = 'x' WHERE id = 1;
  INSERT INTO client_hwids (sub_id, hwid_hash, first_seen, last_seen, user_agent) VALUES
    ('sub10000000001', '${'a'.repeat(64)}', 1795304000000, 1795304100000, 'Happ/1'), ('sub10000000002', 'no hash', 1, 1, ''), ('nobody', '${'b'.repeat(64)}', 1, 1, '');
  INSERT INTO client_external_links (client_id, kind, value, remark, sort_index) VALUES
    (2, 'link', 'trojan://secret@edge.example.org:443#edge', 'Edge', 0), (3, 'link', 'no link', '', 0), (999, 'link', 'trojan://x@y.example:1', '', 0);
  INSERT INTO inbound_client_ips (client_email, ips) VALUES
    ('user1@old1.example', '[{"ip":"203.0.113.9","timestamp":1795304400}]'), ('user2@old1.example', '["203.0.113.10"]'), ('gone', '["203.0.113.11"]'), ('user3@old1.example', '{');
  INSERT INTO inbound_fallbacks (master_id, child_id, name, alpn, path, dest, xver, sort_order) VALUES (1, 2, '', '', '/w1', '', 0, 1), (1, 0, '', '', '', 'example.com:80', 0, 2), (77, 1, '', '', '', '', 0, 0);
  INSERT INTO nodes (id, name, scheme, address, port, base_path, api_token, enable) VALUES (4, 'Paris', 'https', 'paris.example.com', 2053, '/', 'its-token', 1), (5, 'Oslo', 'https', 'oslo.example.com', 2053, '/', 'enc:v1:k:n:c', 1), (6, 'bad', 'ftp', 'x', 1, '/', '', 1);
  INSERT INTO inbounds (id, port, protocol, settings, stream_settings, tag, enable, node_id, remark) VALUES (21, 31000, 'vless', '{"clients":[],"decryption":"none"}', '{"network":"tcp","security":"none"}', 'on-paris', 1, 4, 'paris'), (22, 31001, 'vless', '{}', '{}', 'nowhere', 1, 99, 'nowhere');
  INSERT INTO outbound_traffics (tag, up, down) VALUES ('direct', 1000, 2000), ('', 1, 1);
  INSERT INTO outbound_subscriptions (remark, url, enabled, update_interval) VALUES ('Exits', 'https://lists.example/outbounds', 0, 3600), ('bad', 'ftp://x', 0, 600);
  INSERT INTO settings (key, value) VALUES ('subTitle', 'Café'), ('pageSize', '50'), ('tgBotChatId', '42'), ('tgBotEnable', 'true'), ('subUpdates', '-5'), ('webPort', '1'), ('ldapHost', 'x'), ('twoFactorEnable', 'true'), ('warp', '{}');
  CREATE TABLE sub_balancers (id integer PRIMARY KEY, remark text, strategy text, inbound_ids text, member_weights text, sort_order integer, enabled numeric);
  INSERT INTO sub_balancers VALUES (1, 'Fastest', 'leastLoad', '[1,2,77]', '{"1":3,"2":1}', 1, 1), (2, '', 'random', '[1]', '{}', 1, 1);
  CREATE TABLE something_new (a text); INSERT INTO something_new VALUES ('x');
  INSERT INTO clients (id, email, sub_id, uuid) VALUES (500, 'USER1@OLD1.EXAMPLE', 'other', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa');
  INSERT INTO client_inbounds (client_id, inbound_id) VALUES (500, 1), (1, 99), (999, 1);`;

test('takes what belongs to clients and inbounds, and names what belongs to nothing', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t, SIDE);
  const { body } = await send(panel, path);
  t.deepEqual(unaccounted(body.obj), []);
  const taken = (table: string): number => tableOf(body.obj, table).taken;
  t.deepEqual(
    ['clients', 'client_hwids', 'client_external_links', 'inbound_client_ips', 'inbound_fallbacks'].map(
      taken,
    ),
    [40, 1, 1, 2, 2],
  );
  t.deepEqual(
    ['nodes', 'inbounds', 'outbound_traffics', 'outbound_subscriptions', 'sub_balancers'].map(taken),
    [2, 8, 1, 1, 1],
  );
  t.deepEqual(reasons(body.obj, 'clients'), ['email already in use']);
  t.regex(
    String(reasons(body.obj, 'client_external_links')),
    /externalLinks\[0\]\.value is not a share link/,
  );
  t.regex(String(reasons(body.obj, 'client_hwids')), /no client has this subId/);
  t.deepEqual(reasons(body.obj, 'something_new'), ['this panel does not know the table']);
  t.deepEqual(reasons(body.obj, 'inbounds'), ['its node is not here']);
  t.regex(String(reasons(body.obj, 'settings')), /subUpdates/);
  t.deepEqual(
    (await panel.get<{ name: string; enable: boolean }[]>(`${API}/nodes/list`)).map(({ name, enable }) => [
      name,
      enable,
    ]),
    [
      ['Paris', false],
      ['Oslo', false],
    ],
  );
  const settings = await panel.get<Record<string, unknown>>(`${API}/setting/all`, { body: {} });
  t.like(settings, { subTitle: 'Café', pageSize: 50, msgBotChatId: '42', msgBotEnable: false });
  t.is((await panel.get<unknown[]>(`${API}/inbounds/1/fallbacks`)).length, 2);
  t.deepEqual(
    (await panel.get<{ ip: string }[]>(`${API}/clients/ips/user1@old1.example`, { body: {} })).map(
      ({ ip }) => ip,
    ),
    ['203.0.113.9'],
  );
  const again = await send(panel, path);
  t.deepEqual(unaccounted(again.body.obj), []);
  t.deepEqual(
    again.body.obj.tables.filter(({ taken: count }) => count > 0).map(({ table }) => table),
    ['inbound_client_ips'],
    'addresses are told again, which changes nothing',
  );
});

test('a second import takes an inbound that was left, and attaches its clients', async (t) => {
  await using panel = await boot();
  const good = await copyOf(t);
  const bad = await copyOf(t, `UPDATE inbounds SET port = 99999 WHERE id = 4`);
  const first = await send(panel, bad);
  t.is(tableOf(first.body.obj, 'inbounds').left.length, 1);
  t.like(tableOf(first.body.obj, 'client_inbounds'), { taken: 160 });
  const second = await send(panel, good);
  t.like(tableOf(second.body.obj, 'inbounds'), { taken: 1, present: 6 });
  t.like(tableOf(second.body.obj, 'client_inbounds'), { taken: 26, present: 160 });
  t.deepEqual(unaccounted(second.body.obj), []);
  // Its password in this inbound came along.
  const client = await panel.get<{ credentials?: { inboundId: number; password?: string }[] }>(
    `${API}/clients/get/user2@old1.example`,
  );
  t.is(client.credentials?.[0]?.password, 'ea5b1bf3d1234b50af6a41d5fac3161c');
});

test('the flow of a client is that of its attachments, as the core of 3x-ui had it', async (t) => {
  await using panel = await boot();
  const of = (email: string): string => `client_id = (SELECT id FROM clients WHERE email = '${email}')`;
  const path = await copyOf(
    t,
    `UPDATE client_inbounds SET flow_override = '' WHERE ${of('user1@old1.example')};
     UPDATE clients SET flow = 'xtls-rprx-vision' WHERE email = 'user1@old1.example';`,
  );
  await send(panel, path);
  const flowOf = async (email: string): Promise<string> =>
    (await panel.get<{ flow: string }>(`${API}/clients/get/${email}`)).flow;
  t.is(await flowOf('user1@old1.example'), '');
  const others = await query<{ email: string }>(
    path,
    `SELECT c.email FROM clients c JOIN client_inbounds i ON i.client_id = c.id WHERE i.flow_override <> ''`,
  );
  t.true(others.length > 5);
  for (const { email } of others) t.is(await flowOf(email), 'xtls-rprx-vision', email);
});
