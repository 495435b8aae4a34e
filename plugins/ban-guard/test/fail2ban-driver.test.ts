// What fail2ban is asked and what it finds in its logs, without a fail2ban.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { DriverBan } from '../contract.js';
import { Fail2banDriver } from '../fail2ban/driver.js';

const BAN: DriverBan = {
  address: '198.51.100.1',
  scope: 'proxy',
  seconds: 60,
  email: 'ann',
  reason: 'limitIp',
};

/** As fail2ban: it reads the file of that name alone, and a banned address keeps its time. */
async function made(t: ExecutionContext) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const log = join(dataDirectory, 'ban-guard', 'limit.log');
  const banned = new Map<string, number>();
  const calls: string[] = [];
  let seconds = 0;
  const driver = new Fail2banDriver(
    { dataDirectory, config: { fail2ban: '/nowhere' } },
    async (_, [, , verb = '', jail = '', what = '', ...values]) => {
      if (verb === 'set') calls.push([what, ...values].join(' '));
      if (jail !== 'weir-limit') return '';
      if (what === 'bantime') seconds = Number(values[0]);
      if (what === 'unbanip') for (const address of values) banned.delete(address);
      if (verb === 'get') {
        for (const [, address = ''] of (await readFile(log, 'utf8')).matchAll(/^\d+ ban (\S+) .*\]\n/gm))
          if (!banned.has(address) && seconds > 0) banned.set(address, seconds);
        return [...banned.keys()].join(' ');
      }
      return '';
    },
  );
  await driver.makeLogs();
  return { driver, log, banned, calls };
}

test('lines are written to the log that fail2ban reads, also when the previous one is full', async (t) => {
  const { driver, log, banned } = await made(t);
  await writeFile(log, 'x'.repeat(1024 * 1024));
  await driver.ban([BAN]);
  t.deepEqual([...banned.keys()], [BAN.address]);
  t.is((await stat(`${log}.1`)).size, 1024 * 1024);
  t.is((await stat(log)).mode & 0o777, 0o600);
});

test('half a line of a panel that was killed does not swallow the next', async (t) => {
  const { driver, log, banned } = await made(t);
  await writeFile(log, '1790000000 ban 198.5');
  await driver.ban([BAN]);
  t.deepEqual([...banned.keys()], [BAN.address]);
});

test('an address that is banned gets the new time, and the others are not touched', async (t) => {
  const { driver, log, banned, calls } = await made(t);
  await driver.ban([BAN, { ...BAN, address: '198.51.100.2' }]);
  await writeFile(log, '');
  await driver.ban([{ ...BAN, seconds: 3600 }]);
  t.deepEqual(Object.fromEntries(banned), { [BAN.address]: 3600, '198.51.100.2': 60 });
  t.deepEqual(calls, ['bantime 60', `unbanip ${BAN.address}`, 'bantime 3600']);
});
