// Runs fail2ban. Nobody can get a foreign address banned by choosing an email.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testUnless } from '../../../test/harness/left-out.js';
import { Fail2banDriver } from '../fail2ban/driver.js';
import { fail2banFiles } from '../fail2ban/files.js';
import { LOG_FOLDER } from '../fail2ban/log-lines.js';
import { command } from './own-network.js';
import { HOSTILE } from './hostile.js';
import { fail2banObstacle, OwnFail2ban } from './own-fail2ban.js';

const test = testUnless(await fail2banObstacle());
const PORTS = { open: [22, 2053], panel: [2053] };

test('hostile emails ban nobody but the address that is meant', async (t) => {
  t.timeout(120_000);
  const fail2ban = await OwnFail2ban.make(t);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const driver = new Fail2banDriver(
    { dataDirectory, config: { fail2ban: fail2ban.folder } },
    fail2ban.network.run,
  );
  await driver.makeLogs();
  for (const { path, text } of fail2banFiles(dataDirectory, PORTS))
    await writeFile(join(fail2ban.folder, path), text);
  await fail2ban.start();
  await driver.prepare(PORTS);
  const bans = HOSTILE.map((email, i) => ({
    address: `198.51.100.${i + 1}`,
    scope: 'proxy' as const,
    seconds: 600,
    reason: 'limitIp' as const,
    email,
  }));
  await driver.ban(bans);
  t.deepEqual(
    (await driver.banned()).map(({ address }) => address).sort(),
    bans.map(({ address }) => address).sort(),
  );
  const rules = await fail2ban.rules();
  t.false(rules.includes('9.9.9.9'));
  t.is(rules.match(/198\.51\.100\.\d+ timeout/g)?.length, bans.length);

  // A half line of a panel that was killed does not swallow the next one, and bans nobody.
  const log = join(dataDirectory, LOG_FOLDER, 'limit.log');
  await writeFile(log, `${await readFile(log, 'utf8')}${Math.floor(Date.now() / 1000)} ban 9.9.9.9 limi`);
  await driver.ban([{ ...bans[0], address: '198.51.100.200' } as (typeof bans)[number]]);
  const addresses = (await driver.banned()).map(({ address }) => address);
  t.true(addresses.includes('198.51.100.200'));
  t.false(addresses.includes('9.9.9.9'));

  // The filter itself, with what an email would have done as it came.
  const lines = HOSTILE.map(
    (email) => `${Math.floor(Date.now() / 1000)} ban 198.51.100.1 limitIp [${email}]`,
  );
  const raw = join(dataDirectory, 'raw.log');
  await writeFile(raw, `${lines.join('\n')}\n`);
  const read = await command(
    'fail2ban-regex',
    '-v',
    raw,
    join(fail2ban.folder, 'filter.d', 'weir-limit.conf'),
  );
  t.true(read.includes('198.51.100.1'), 'some of them are harmless');
  t.false(/^\|?\s+1\.1\.1\.1\s/m.test(read), 'an address inside of a line is never one');
});
