// Addresses of tunnels, their pools, and the settings of WireGuard and AmneziaWG.
import test from 'ava';
import { inspect } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { accountOf, ANYBODY, anybodyIn } from '../accounts.js';
import type { Inbound, TakenKeys } from '../contract.js';
import { amneziawg } from '../protocols/wireguard/amneziawg.js';
import { completeServer, ServerBlock } from '../protocols/wireguard/amneziawg-server.js';
import { freeAddress, poolOf, poolsAround } from '../protocols/wireguard/address-pool.js';
import { keyOf, newKeyPair, publicKeyOf } from '../protocols/wireguard/keys.js';
import { prefixOf } from '../protocols/wireguard/prefixes.js';
import { wireguard, wireguardAccounts } from '../protocols/wireguard/wireguard.js';

test('a prefix has one spelling for its network', (t) => {
  for (const [sent, text, network] of [
    ['10.0.0.2', '10.0.0.2/32', '10.0.0.2/32'],
    [' 10.0.0.77/24 ', '10.0.0.77/24', '10.0.0.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0', '0.0.0.0/0'],
    ['200.1.2.3/1', '200.1.2.3/1', '128.0.0.0/1'],
    ['FD00:0:0::2', 'fd00::2/128', 'fd00::2/128'],
    ['fd00::ffff:2/113', 'fd00::ffff:2/113', 'fd00::ffff:0/113'],
    ['::/0', '::/0', '::/0'],
  ] as const)
    t.deepEqual(prefixOf(sent), { text, network }, sent);
  for (const wrong of [
    '',
    '10.0.0',
    '10.0.0.1/33',
    '10.0.0.1/',
    '::1/129',
    '::ffff:10.0.0.1',
    'a',
    '10.0.0.1/-1',
    'fe80::1%eth0',
  ])
    t.is(prefixOf(wrong), undefined, wrong);
});

test('a key has one spelling', (t) => {
  const { privateKey, publicKey } = newKeyPair();
  t.is(publicKeyOf(privateKey), publicKey);
  const bytes = Buffer.from(publicKey, 'base64');
  for (const spelling of [
    publicKey,
    bytes.toString('base64url'),
    bytes.toString('hex'),
    publicKey.replace('=', ''),
  ])
    t.is(keyOf(spelling), publicKey);
  for (const wrong of ['', 'short', `${publicKey}A`, 'g'.repeat(64)]) t.is(keyOf(wrong), undefined, wrong);
});

class Taken implements TakenKeys {
  readonly keys = new Set<string>();
  questions = 0;
  cursor: TakenKeys['cursor'];
  readonly freed: string[] = [];
  has(key: string): boolean {
    this.questions++;
    return this.keys.has(key);
  }
  all = (): Iterable<string> => this.keys;
}
const inbound = { id: 1, remark: 'r', tag: 't' } as Inbound;

test('a whole pool costs one walk over it, and a full one nothing (W16)', (t) => {
  const taken = new Taken();
  const next = (): string => {
    const address = freeAddress(taken, poolsAround('10.0.0.0/24'), () => true, inbound, '');
    taken.keys.add(address);
    return address;
  };
  for (let i = 0; i < 20_000; i++) next();
  t.is(taken.keys.size, 20_000);
  t.true(taken.questions < 21_000, `${taken.questions} questions`);
  for (;;)
    try {
      next();
    } catch (error) {
      t.is((error as { code?: string }).code, 'INBOUNDS_POOL_FULL');
      break;
    }
  const { questions } = taken;
  t.throws(next);
  t.is(taken.questions, questions);
  for (const key of ['no address', '10.0.7.7/32']) taken.keys.delete(key);
  taken.freed.push('10.0.7.7/32', 'no address', '10.99.0.1/32');
  t.is(next(), '10.0.7.7/32');
  t.throws(next, { message: /no free address left in 10\.0\.0\.0\/16/ });
});

test('a pool of another length has its own hosts alone', (t) => {
  const taken = new Taken();
  const pools = [poolOf('10.8.1.9', 30)];
  t.is(
    freeAddress(taken, pools, () => true, inbound, ''),
    '10.8.1.10/32',
  );
  t.throws(() => freeAddress(taken, pools, () => true, inbound, ''), { message: /10\.8\.1\.8\/30/ });
});

const engine = new FakeEngine();
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin] });
});
test.after.always(() => panel.stop());

const settingsOf = async (id: number): Promise<Record<string, Record<string, unknown>>> =>
  (await panel.get<{ settings: Record<string, Record<string, unknown>> }>(`/panel/api/inbounds/get/${id}`))
    .settings;
const add = (protocol: string, settings: object) =>
  panel.call('/panel/api/inbounds/add', { body: { protocol, listen: '127.0.0.1', port: 24_900, settings } });

test.serial(
  'amneziawg: a server block is generated once and kept; clients get an address of it',
  async (t) => {
    const id = await panel.addInbound({
      protocol: 'amneziawg',
      settings: { server: { subnetIp: '10.44.0.0' } },
    });
    const { server = {} } = await settingsOf(id);
    t.like(server, { subnetIp: '10.44.0.0', subnetCidr: 24, primaryDns: '8.8.8.8' });
    t.is<unknown, unknown>(publicKeyOf(String(server['privateKey'])), server['publicKey']);
    await panel.get(`/panel/api/inbounds/update/${id}`, { body: { settings: {} } });
    t.deepEqual((await settingsOf(id))['server'], server);
    await panel.get(`/panel/api/inbounds/update/${id}`, {
      body: { settings: { server: { mtu: 1300, privateKey: '' } } },
    });
    t.deepEqual((await settingsOf(id))['server'], { ...server, mtu: 1300 });
    await panel.addClient('a1', [id], { forwardedPorts: '80,8000-8100' });
    await panel.get('/panel/api/clients/update/a1', { body: { keepAlive: 20 } });
    t.like(await panel.get('/panel/api/clients/get/a1'), {
      allowedIPs: '10.44.0.2/32',
      forwardedPorts: '80,8000-8100',
      keepAlive: 20,
    });
    const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/a1');
    t.true(
      Buffer.from(link.slice('vpn://'.length), 'base64url').toString().includes('\nAddress = 10.44.0.2/32\n'),
    );
    const [option] = (
      await panel.get<Record<string, Record<string, unknown>>[]>('/panel/api/inbounds/options')
    ).filter((one) => (one['id'] as unknown) === id);
    t.is(option?.['awgServer']?.['publicKey'], server['publicKey']);
    t.false('privateKey' in (option?.['awgServer'] ?? {}));
    const { state } = await panel.get<{ state: string }>(`/panel/api/inbounds/get/${id}`);
    t.regex(state, /^not running: /);
    t.false(engine.configs.some(({ protocol }) => protocol === 'amneziawg'));
  },
);

test.serial('amneziawg refuses a server block that contradicts itself, and names the field', async (t) => {
  for (const [server, says] of [
    [{ jmin: 100, jmax: 50 }, /jmin/],
    [{ s1: 20, s2: 76 }, /s2/],
    [{ s3: 65 }, /s3/],
    [{ s4: 33 }, /s4/],
    [{ h1: '5-3000', h2: '2000-9000' }, /h1 and h2/],
    [{ h1: '9-5' }, /h1/],
    [{ rekeyAfterTime: 200 }, /rekeyAfterTime/],
    [{ headerProtectionKey: Buffer.alloc(32).toString('base64'), s1: 5 }, /headerProtectionKey/],
    [{ headerProtectionKey: 'short' }, /headerProtectionKey/],
    [{ externalInterface: 'a b' }, /externalInterface/],
    [{ primaryDns: '8.8.8.8\nPostUp' }, /primaryDns/],
    [{ ipv6Enabled: true }, /ipv6Subnet/],
    [{ subnetIp: 'x' }, /subnetIp/],
    [{ subnetCidr: 31 }, /subnetCidr/],
    [{ privateKey: 'x' }, /privateKey/],
    [{ i1: 'a\nb' }, /i1/],
  ] as const) {
    const { status, body } = await add('amneziawg', { server });
    t.is(status, 400, JSON.stringify(server));
    t.regex(body.msg, says);
  }
  t.is((await add('amneziawg', { server: 'text' })).status, 400);
});

test.serial('wireguard refuses wrong keys, transports and values', async (t) => {
  for (const [settings, says] of [
    [{ secretKey: 'x' }, /secretKey/],
    [{ mtu: 0 }, /mtu/],
    [{ domainStrategy: 'No' }, /domainStrategy/],
    [{ peers: [{ publicKey: 'x' }] }, /publicKey/],
    [{ dns: 'a\nb' }, /dns/],
  ] as const) {
    const { status, body } = await add('wireguard', settings);
    t.is(status, 400, JSON.stringify(settings));
    t.regex(body.msg, says);
  }
  const { status, body } = await panel.call('/panel/api/inbounds/add', {
    body: { protocol: 'wireguard', port: 24_900, streamSettings: { network: 'ws' } },
  });
  t.is(status, 400);
  t.regex(body.msg, /wireguard is its own transport/);
});

test.serial('the reply says that the core counts no clients of wireguard', async (t) => {
  const { body } = await add('wireguard', {});
  t.regex(body.msg, /does not count the bytes of single clients/);
});

test.serial('wireguard: what a client and its inbound have reaches the link and the core', async (t) => {
  const psk = Buffer.alloc(32, 7).toString('base64');
  const peer = newKeyPair().publicKey;
  const id = await panel.addInbound({
    protocol: 'wireguard',
    settings: { mtu: 1380, dns: '9.9.9.9', peers: [{ publicKey: peer, allowedIPs: ['10.3.0.2/32'] }] },
  });
  await panel.addClient('w1', [id], { keepAlive: 25, preSharedKey: psk });
  const linkOf = async () =>
    new URL((await panel.get<string[]>('/panel/api/clients/links/w1'))[0] ?? '').searchParams;
  const core = () => [...engine.users].find(([name]) => name.startsWith(`i${id}.`))?.[1];
  const all = { keepAlive: 25, preSharedKey: psk, allowedIPs: '10.3.0.3/32' };
  t.like(core(), all);
  t.like(Object.fromEntries(await linkOf()), {
    keepalive: '25',
    presharedkey: psk,
    mtu: '1380',
    dns: '9.9.9.9',
    address: '10.3.0.3/32',
  });
  t.false(
    engine.configs.some(({ settings }) => 'dns' in (settings as object)),
    'the core has no use for it',
  );
  await panel.get('/panel/api/clients/update/w1', { body: { allowedIPs: '10.3.0.9' } });
  t.like(core(), { ...all, allowedIPs: '10.3.0.9/32' }, 'what is left out stays');
  // A peer in the settings has its key already, in whatever spelling.
  const { status, body } = await panel.call('/panel/api/clients/update/w1', {
    body: { publicKey: Buffer.from(peer, 'base64').toString('hex') },
  });
  t.is(status, 400);
  t.regex(body.msg, /^publicKey: a peer in the settings/);
});

test('the account that keeps the list of peers from being empty gets no packets', (t) => {
  const { publicKey, allowedIPs } = wireguardAccounts.nobody({});
  t.is(allowedIPs, '100::1/128');
  t.is(keyOf(String(publicKey)), String(publicKey));
});

test.serial('amneziawg: link and account hold what server and client have', async (t) => {
  const { privateKey, publicKey } = newKeyPair();
  const headerProtectionKey = Buffer.alloc(32, 9).toString('base64');
  const id = await panel.addInbound({
    protocol: 'amneziawg',
    settings: {
      server: { privateKey, headerProtectionKey, s1: 20, s2: 30, s3: 15, s4: 20, randomTrailers: true },
    },
  });
  t.is((await settingsOf(id))['server']?.['publicKey'], publicKey, 'it follows from the private key');
  await panel.addClient('a2', [id], { keepAlive: 25 });
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/a2');
  const lines = Buffer.from(link.slice('vpn://'.length), 'base64url').toString().split('\n');
  for (const line of [
    `PublicKey = ${publicKey}`,
    'MTU = 1400',
    'S4 = 20',
    `HeaderProtectionKey = ${headerProtectionKey}`,
    'RandomTrailers = on',
    'PersistentKeepalive = 25',
  ])
    t.true(lines.includes(line), line);
  for (const forwardedPorts of ['90-80', '0', '80-65536', '80,,81', 'ssh'])
    t.is((await panel.call('/panel/api/clients/update/a2', { body: { forwardedPorts } })).status, 400);
  const own = { publicKey: 'k', allowedIPs: ['10.0.0.2/32', 'fd00::2/128'], preSharedKey: 'p' };
  const credentials = new Map([[1, { ...own, keepAlive: 5, forwardedPorts: '80' }]]);
  t.deepEqual(amneziawg.account({ ...ANYBODY, credentials }, inbound), {
    ...{ protocol: 'amneziawg', ...own, allowedIPs: '10.0.0.2/32,fd00::2/128' },
    ...{ keepAlive: 5, forwardedPorts: '80' },
  });
});

test.serial('an inbound that becomes amneziawg takes over nothing of its previous protocol', async (t) => {
  const id = await panel.addInbound({ protocol: 'tuic', settings: { server: { sni: 's.example' } } });
  await panel.get(`/panel/api/inbounds/update/${id}`, { body: { protocol: 'amneziawg', settings: {} } });
  const { server = {} } = await settingsOf(id);
  // The first that no other inbound has.
  t.regex(String(server['subnetIp']), /^10\.8\.\d\.0$/);
  t.false('sni' in server);
});

test('who lacks the credential of an inbound has no account there; the sample client has it', (t) => {
  t.is(accountOf(wireguard, ANYBODY, inbound), undefined);
  t.like(accountOf(wireguard, anybodyIn(inbound, wireguard), inbound), { allowedIPs: '192.0.2.1/32' });
});

test('amneziawg generates no server block that it would refuse', (t) => {
  for (let i = 0; i < 1000; i++) t.true('value' in inspect(ServerBlock, completeServer({}, undefined)));
});
