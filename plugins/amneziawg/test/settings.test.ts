// The server block: what the program would refuse or crash on, and what is sent to it.
import test from 'ava';
import { settingsChange } from '../device-settings.js';
import { tagsProblem } from '../junk-tags.js';
import { freeSubnet, settingsProblem, sharingNetwork } from '../settings-check.js';
import { mtuOf, serverV6, subnetOf } from '../server-block.js';

const KEY = `${'A'.repeat(42)}E=`;
const SERVER = { privateKey: KEY, s1: 27, s2: 30, s3: 20, s4: 16 };
const NO_SETTINGS = { settings: new Map<string, string>(), peers: new Map() };
const deviceWith = (lines: readonly string[]) => ({
  settings: new Map(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ),
  peers: new Map(),
});

test('tags that the program reads, and tags on which it would crash', (t) => {
  for (const good of ['', '<t>', '<c><t>', '<b 0xc0ff>', '<b 0Xf>', ' <r 1000> <rc 1><rd 5> ', '<r 1><r 1>'])
    t.is(tagsProblem(good), undefined, good);
  for (const bad of [
    'text',
    '<1>',
    '<>',
    '< t>',
    '<t >',
    '<t 1>',
    '<r>',
    '<r -5>',
    '<r 0>',
    '<r 1001>',
    '<r 5 5>',
    '<b c0ff>',
    '<b 0xzz>',
    '<b>',
    '<wait>',
    '<t><t>',
    '<c><c>',
    '<t',
    '<t>>',
    'a<t>',
    '<t>b',
    '<R 5>',
    `${'<r 1000>'.repeat(66)}`,
  ])
    t.is(typeof tagsProblem(bad), 'string', bad);
});

test('a block with which the program could not run names its field', (t) => {
  const problem = (more: Record<string, unknown>) => settingsProblem({ ...SERVER, ...more })?.path;
  t.is(problem({}), undefined);
  t.is(problem({ s1: 10, s2: 66 }), 'settings.server.s2', 'both kinds of handshake have 158 bytes');
  t.is(problem({ s2: 30, s3: 58 }), 'settings.server.s3');
  t.is(problem({ s3: 0, s4: 32 }), 'settings.server.s4');
  t.is(problem({ i1: '<1>' }), 'settings.server.i1');
  t.is(problem({ i1: '<t>', i3: '<t>' }), 'settings.server.i3', 'i2 is missing');
  t.is(problem({ subnetIp: '8.8.8.0' }), 'settings.server.subnetIp');
  t.is(problem({ subnetIp: '127.0.0.0' }), 'settings.server.subnetIp');
  t.is(problem({ subnetIp: '10.9.0.0', subnetCidr: 8 }), undefined);
  t.is(
    problem({ subnetIp: '172.16.0.0', subnetCidr: 8 }),
    'settings.server.subnetIp',
    'more than is private',
  );
  t.is(problem({ ipv6Enabled: true, ipv6Subnet: 'fd00::/16' }), 'settings.server.ipv6Subnet');
  t.is(problem({ ipv6Enabled: true, ipv6Subnet: 'fd00::/64' }), undefined);
});

test('the server has the first host of each network', (t) => {
  t.deepEqual(subnetOf({}), { network: '10.8.1.0/24', address: '10.8.1.1', length: 24 });
  t.deepEqual(subnetOf({ subnetIp: '10.1.2.200', subnetCidr: 28 }), {
    network: '10.1.2.192/28',
    address: '10.1.2.193',
    length: 28,
  });
  const v6 = (ipv6Subnet: string) => serverV6({ ipv6Enabled: true, ipv6Subnet });
  t.is(v6('fd00:8::/64'), 'fd00:8::1/64');
  t.is(v6('fd00:8::ff:5/112'), 'fd00:8::ff:1/112');
  t.is(v6('fd00:1:2:3:4:5:6:7/64'), 'fd00:1:2:3::1/64');
  t.is(serverV6({ ipv6Subnet: 'fd00::/64' }), undefined, 'not enabled');
  t.is(mtuOf({ s4: 27 }), 1393);
  t.is(mtuOf({ mtu: 1300 }), 1300);
});

test('networks of two inbounds do not overlap', (t) => {
  const others = [{ id: 3, server: { subnetIp: '10.8.0.0', subnetCidr: 16 } }];
  t.is(sharingNetwork({ subnetIp: '10.8.9.0' }, others)?.id, 3);
  t.is(sharingNetwork({ subnetIp: '10.0.0.0', subnetCidr: 8 }, others)?.id, 3);
  t.is(sharingNetwork({ subnetIp: '10.9.0.0' }, others), undefined);
  t.is(freeSubnet([]), '10.8.1.0');
  t.is(freeSubnet(['10.8.1.0/24', '10.8.2.77/32']), '10.8.3.0');
  t.is(freeSubnet(['10.8.0.0/16']), '10.9.0.0');
  t.is(freeSubnet(['10.0.0.0/8']), undefined);
});

test('a device that is so already is not set again', (t) => {
  const whole = {
    ...SERVER,
    ...{ jc: 7, jmin: 50, jmax: 50, h1: '5-9', h2: '1000-1000', h3: 4_000_000_000, h4: 3, i1: '<r 5>' },
  };
  const lines = settingsChange(whole, 51820, NO_SETTINGS);
  t.true(lines.includes('h2=1000') && lines.includes('jmax=51'), 'as the program itself writes them');
  t.false(
    lines.some((line) => line.startsWith('h4=')),
    'up to 4 is the default',
  );
  t.deepEqual(settingsChange(whole, 51820, deviceWith(lines)), []);
  t.deepEqual(settingsChange(whole, 51821, deviceWith(lines)), ['listen_port=51821']);
  const changed = settingsChange({ ...whole, s1: 28 }, 51820, deviceWith(lines));
  t.true(changed.includes('s1=28') && changed.includes('jc=7'), 'one field is sent with all others');
  t.false(changed.some((line) => line.startsWith('private_key')));
});

test('a private key that the program keeps in another form is not set again', (t) => {
  const bytes = Buffer.alloc(32, 0xff);
  const kept = Buffer.from(bytes);
  kept.writeUInt8(0xf8, 0);
  kept.writeUInt8(0x7f, 31);
  const server = { ...SERVER, privateKey: bytes.toString('base64') };
  const lines = settingsChange(server, 51820, NO_SETTINGS);
  t.true(lines.includes(`private_key=${bytes.toString('hex')}`));
  const device = lines.map((line) =>
    line.startsWith('private_key=') ? `private_key=${kept.toString('hex')}` : line,
  );
  t.deepEqual(settingsChange(server, 51820, deviceWith(device)), []);
});

test('fields of newer versions are sent in the words of the control socket', (t) => {
  const lines = settingsChange(
    {
      ...SERVER,
      headerProtectionKey: KEY,
      contentPaddingAddition: '50-100',
      rekeyAfterTime: 100,
      rekeyTimeout: '4-6',
      rejectAfterTime: '160-200',
      keepaliveTimeout: '8-12',
      maxHandshakeAttempts: 15,
      randomTrailers: true,
      disableCookies: true,
    },
    1,
    NO_SETTINGS,
  );
  for (const line of [
    `header_protection_key=${'00'.repeat(31)}01`,
    'content_padding_addition=50-100',
    'rekey_after_time=100',
    'rekey_timeout=4-6',
    'reject_after_time=160-200',
    'keepalive_timeout=8-12',
    'max_handshake_attempts=15',
    'random_trailers=true',
    'disable_cookies=true',
  ])
    t.true(lines.includes(line), line);
});
