// Whole panels without the program: what is refused when an inbound is saved, and what an inbound says that cannot run.
import test from 'ava';
import type { PanelApi } from '../../../test/harness/api.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const GOOD = { s1: 27, s2: 30, s3: 20, s4: 16 };
const add = (panel: PanelApi, server: unknown, port: number) =>
  panel.call<{ id: number }>('/panel/api/inbounds/add', {
    body: { protocol: 'amneziawg', port, remark: 'tunnel', settings: { server } },
  });
interface Saved {
  readonly id: number;
  readonly state: string;
  readonly settings: { readonly server: Record<string, unknown> };
}
const get = (panel: PanelApi, id: number) => panel.get<Saved>(`/panel/api/inbounds/get/${id}`);

test('each bad field of a server block is refused by name and changes nothing', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const key = `${'A'.repeat(42)}E=`;
  const bad: Record<string, readonly unknown[]> = {
    privateKey: ['short', `${key}\n`, 7, `${'A'.repeat(43)}=`],
    subnetIp: ['8.8.8.0', '10.8.1', 'fd00::', '10.8.1.0\nx'],
    subnetCidr: [7, 31, '24\n', -1],
    mtu: [-1, 70_000, 'x', 1, 575],
    primaryDns: ['dns.example', '8.8.8.8\nPostUp = x'],
    secondaryDns: ['1.1.1.1, 9.9.9.9'],
    externalInterface: ['eth0; reboot', 'a b', 'x'.repeat(16), 'eth0\n', '"', '../../all'],
    ipv6ExternalInterface: ['eth0"'],
    ipv6Subnet: ['fd00::', '10.0.0.0/8', 'fd00::/129'],
    jc: [-1, 129, 1.5, 'x'],
    jmin: [-1, 1281],
    jmax: [-1, 1281],
    s1: [-1, 1133],
    s2: [-1, 83],
    s3: [65, 58],
    s4: [33, -1],
    h1: ['9-5', '-1', 2 ** 32, 'x', '5-'],
    h2: ['5-4294967296'],
    h3: ['1 2'],
    h4: ['0x10'],
    i1: ['text', '<1>', '<r -1>', '<t>\nreplace_peers=true', '<b 0x0g>'],
    i3: ['<t>'],
    headerProtectionKey: ['short', key],
    rekeyAfterTime: ['180', '5-x'],
    rejectAfterTime: ['120', '1'],
    keepaliveTimeout: ['x'],
    maxHandshakeAttempts: ['1-'],
    contentPaddingAddition: ['-5'],
    rekeyTimeout: ['a'],
    randomTrailers: ['perhaps'],
    disableCookies: [[]],
  };
  for (const [field, values] of Object.entries(bad))
    for (const value of values) {
      const server = { ...GOOD, [field]: value };
      const { status, body } = await add(
        panel,
        field === 'headerProtectionKey' ? { ...server, s1: 11 } : server,
        51_000,
      );
      t.true(status >= 400 && status < 500, `${field} = ${JSON.stringify(value)}: ${status} ${body.msg}`);
      t.true(body.msg.includes('server'), `${field} = ${JSON.stringify(value)}: ${body.msg}`);
    }
  t.deepEqual(await panel.get('/panel/api/inbounds/list'), []);
});

test('prefixes of IPv6 that are not for hosts are refused, and an MTU that is too small for it', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (const ipv6Subnet of [
    'fe80::1%eth0/64',
    'fd00::1%a.b-c/64',
    'fd00::1.2.3.4/64',
    '::ffff:10.0.0.0/96',
    '::/64',
    'ff02::/64',
    'fe80::/64',
    'fd00::/127',
    'fd00::/47',
  ]) {
    const { status, body } = await add(panel, { ...GOOD, ipv6Enabled: true, ipv6Subnet }, 51_000);
    t.is(status, 400, ipv6Subnet);
    t.regex(body.msg, /ipv6Subnet/, ipv6Subnet);
  }
  const v6 = { ...GOOD, ipv6Enabled: true, ipv6Subnet: 'fd00:8::/64' };
  t.regex(
    (await add(panel, { ...v6, mtu: 1279 }, 51_000)).body.msg,
    /settings\.server\.mtu: .* at least 1280/,
  );
  t.true((await add(panel, { ...v6, mtu: 1280 }, 51_000)).body.success);
});

test('each inbound gets a network of its own, and cannot take that of another', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const ids: number[] = [];
  for (const port of [51_001, 51_002, 51_003]) {
    const { body } = await add(panel, {}, port);
    t.true(body.success, body.msg);
    ids.push(body.obj.id);
  }
  const blocks = await Promise.all(ids.map(async (id) => (await get(panel, id)).settings.server));
  t.is(new Set(blocks.map((block) => block['subnetIp'])).size, 3);
  const taken = await add(panel, { subnetIp: blocks[0]?.['subnetIp'], subnetCidr: 20 }, 51_004);
  t.is(taken.status, 400);
  t.regex(taken.body.msg, new RegExp(`inbound ${ids[0]} has an overlapping network`));
  const own = await panel.call(`/panel/api/inbounds/update/${ids[0]}`, {
    body: await get(panel, ids[0] ?? 0),
  });
  t.true(own.body.success, 'its own network is no obstacle');
});

test('generated lengths never look like those of data packets', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  for (let i = 0; i < 40; i++) {
    const { body } = await add(panel, {}, 51_010 + i);
    t.notRegex(body.msg, /drops data packets/);
    const { s1, s2, s3, s4 } = (await get(panel, body.obj.id)).settings.server as Record<string, number>;
    for (const length of [148 + (s1 ?? 0), 92 + (s2 ?? 0), 64 + (s3 ?? 0)])
      t.true(
        (length - 32 - (s4 ?? 0)) % 16 !== 0 || length < 32 + (s4 ?? 0),
        JSON.stringify([s1, s2, s3, s4]),
      );
  }
  const { body } = await add(panel, { ...GOOD, s1: 28 }, 51_100);
  t.true(body.success);
  t.regex(body.msg, /with this s1 and s4, amneziawg-go drops data packets of 176 bytes/);
});

test('an inbound without the program says so, and its other functions work', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { body } = await add(panel, GOOD, 51_001);
  const { id } = body.obj;
  await panel.addClient('ann', [id]);
  const { state } = await get(panel, id);
  t.regex(state, /^not running: .*(amneziawg-go|CAP_NET_ADMIN|\/dev\/net\/tun|nft|ip)/);
  const links = await panel.get<string[]>('/panel/api/clients/links/ann');
  t.true(links.some((link) => link.startsWith('vpn://')));
  const report = await panel.get<{ running: boolean; peers: unknown[]; events: string[] }>(
    '/panel/api/server/amneziawglogs/10',
    { body: { filter: 'sidecar' } },
  );
  t.false(report.running);
  t.deepEqual(report.peers, []);
  t.true(Array.isArray(report.events));
  for (const count of ['0', '-1', '10001', 'x', '1.5'])
    t.is((await panel.call(`/panel/api/server/amneziawglogs/${count}`, { body: {} })).status, 400, count);
  t.is(
    (await panel.call('/panel/api/server/amneziawglogs/5', { body: { filter: 'x'.repeat(257) } })).status,
    400,
  );
  t.deepEqual(panel.faults, []);
});
