// Runs nftables.
// Bans by nftables, in network namespaces of the tests.
import test from 'ava';
import { testUnless } from '../../../test/harness/left-out.js';
import type { DriverBan } from '../contract.js';
import { NftablesDriver } from '../nftables/driver.js';
import { banText, tableOf, tableText } from '../nftables/table-text.js';
import { OwnNetwork, whyNoNetworks } from './own-network.js';

const declare = testUnless(await whyNoNetworks());
const PORTS = { open: [22, 2053], panel: [2053] };
const ban = (address: string, more: Partial<DriverBan> = {}): DriverBan => ({
  address,
  scope: 'proxy',
  seconds: 600,
  email: '',
  reason: 'limitIp',
  ...more,
});
const TABLE = tableOf('/data');
const driverIn = (network: OwnNetwork) => new NftablesDriver({ dataDirectory: '/data' }, network.run);
const texts = async (driver: NftablesDriver) =>
  (await driver.banned()).map(({ address, scope }) => `${scope} ${address}`).sort();

test('the text closes all ports but the open ones, or those of the panel', (t) => {
  const text = tableText('weir_x_bans', PORTS);
  t.true(text.includes('meta l4proto { tcp, udp } th dport != { 22, 2053 } ip saddr @proxy4 drop'));
  t.true(text.includes('tcp dport { 2053 } ip saddr @panel4 drop'));
  t.true(text.includes('iifname "lo" accept'));
  t.false(
    tableText('weir_x_bans', { open: [], panel: [] }).includes('dport'),
    'no port, no rule about ports',
  );
});

test('a ban lasts at least a second', (t) => {
  t.true(banText('t', [ban('198.51.100.1', { seconds: 0 })]).includes('198.51.100.1 timeout 1s'));
});

test('without nft, or without the right, the state says so', async (t) => {
  const failing = (message: string) =>
    new NftablesDriver({ dataDirectory: '/data' }, () => Promise.reject(new Error(message))).state();
  t.like(await failing('the program nft is missing'), { installed: false });
  t.regex((await failing('the program nft is missing')).problem, /install the package nftables/);
  const denied = await failing('nft failed: netlink: Error: Operation not permitted (you must be root)');
  t.true(denied.installed);
  t.regex(denied.problem, /CAP_NET_ADMIN/);
  t.regex((await failing('nft failed: something else')).problem, /something else/);
});

declare('bans, bans again with another time, and ends bans', async (t) => {
  const driver = driverIn(await OwnNetwork.make(t));
  t.deepEqual(await driver.state(), { installed: true, problem: '' });
  await driver.prepare(PORTS);
  await driver.ban([ban('198.51.100.1'), ban('2001:db8:0:7::'), ban('198.51.100.1', { scope: 'panel' })]);
  t.deepEqual(await texts(driver), ['panel 198.51.100.1', 'proxy 198.51.100.1', 'proxy 2001:db8:0:7::']);
  await driver.ban([ban('198.51.100.1', { seconds: 5000 })]);
  const seconds = (await driver.banned()).find(
    ({ address, scope }) => `${scope} ${address}` === 'proxy 198.51.100.1',
  )?.seconds;
  t.true((seconds ?? 0) > 4990 && (seconds ?? 0) <= 5000, String(seconds));
  await driver.unban([
    { address: '198.51.100.1', scope: 'proxy' },
    { address: '203.0.113.99', scope: 'proxy' },
  ]);
  t.deepEqual(
    await texts(driver),
    ['panel 198.51.100.1', 'proxy 2001:db8:0:7::'],
    'one that was not there is no failure',
  );
});

declare('other ports keep the bans; clear leaves nothing, also a second time', async (t) => {
  const network = await OwnNetwork.make(t);
  const driver = driverIn(network);
  await network.exec('nft', 'add', 'table', 'inet', 'of_somebody_else');
  await driver.prepare(PORTS);
  await driver.ban([ban('198.51.100.1')]);
  await driver.prepare({ open: [22, 4443], panel: [4443] });
  t.deepEqual(await texts(driver), ['proxy 198.51.100.1']);
  const rules = await network.exec('nft', 'list', 'table', 'inet', TABLE);
  t.true(rules.includes('4443'));
  t.false(rules.includes('2053'));
  await driver.clear();
  await driver.clear();
  t.is((await network.exec('nft', 'list', 'tables')).trim(), 'table inet of_somebody_else');
});

declare('a call that fails changes nothing', async (t) => {
  const driver = driverIn(await OwnNetwork.make(t));
  await driver.prepare(PORTS);
  await driver.ban([ban('198.51.100.1')]);
  await t.throwsAsync(driver.ban([ban('198.51.100.2'), ban('198.51.100.3; flush ruleset')]));
  await t.throwsAsync(
    driver.ban([ban('198.51.100.2'), ban('1.2.3.4 }\nflush ruleset\nadd element x { 1.2.3.4')]),
  );
  t.deepEqual(await texts(driver), ['proxy 198.51.100.1']);
});

declare('10,000 bans are made, listed and ended', async (t) => {
  const driver = driverIn(await OwnNetwork.make(t));
  await driver.prepare(PORTS);
  const many = Array.from({ length: 10_000 }, (_, i) =>
    i % 4 === 0
      ? ban(`2001:db8:${i.toString(16)}:1::`)
      : ban(`203.${i >> 8}.${i & 255}.1`, { scope: i % 2 === 0 ? 'proxy' : 'panel' }),
  );
  const times: string[] = [];
  const timed = async <T>(what: string, work: Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work;
    times.push(`${what} ${Math.round(performance.now() - began)} ms`);
    return result;
  };
  await timed('ban', driver.ban(many));
  t.is((await timed('list', driver.banned())).length, 10_000);
  await timed('again', driver.ban(many));
  await timed('unban', driver.unban(many));
  t.is((await driver.banned()).length, 0);
  t.log(times.join(', '));
});
