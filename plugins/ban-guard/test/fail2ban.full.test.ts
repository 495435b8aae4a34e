// Runs fail2ban. Its files, put in place and removed by the command, and bans of a whole panel by it.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freePort, PanelProcess, until, weirCommand } from '../../../test/harness/index.js';
import { testUnless } from '../../../test/harness/left-out.js';
import type { BanFacts } from '../contract.js';
import { fail2banObstacle, OwnFail2ban } from './own-fail2ban.js';

const test = testUnless(await fail2banObstacle());
const API = '/panel/api/x/ban-guard';

async function world(t: ExecutionContext) {
  t.timeout(180_000);
  const fail2ban = await OwnFail2ban.make(t);
  // The ports stand in the files.
  const [panelPort, subPort] = [await freePort(), await freePort()];
  const env = {
    WEIR_FAIL2BAN: fail2ban.folder,
    WEIR_ENGINE_BIN: '/nowhere/core',
    WEIR_PANEL_PORT: String(panelPort),
    WEIR_SUB_PORT: String(subPort),
  };
  const open = async (dataDirectory?: string) => {
    const panel = await PanelProcess.start({ env, ...(dataDirectory !== undefined && { dataDirectory }) });
    t.teardown(() => panel.dispose());
    return panel;
  };
  const panel = await open();
  const weir = (...argv: string[]) => weirCommand(panel.dataDirectory, ['ban-guard', ...argv], env);
  return { fail2ban, panel, open, weir };
}
const problemOf = async (panel: PanelProcess) =>
  (await panel.get<{ problem: string }>(`${API}/status`)).problem;
const listed = async (panel: PanelProcess) =>
  (await panel.get<BanFacts[]>(`${API}/bans`)).map(({ address, scope }) => `${scope} ${address}`).sort();
const reconcile = (panel: PanelProcess) =>
  panel.call('/panel/api/system/jobs/ban-guard/reconcile', { method: 'POST' });
const use = (panel: PanelProcess, banGuardDriver: string) =>
  panel.get('/panel/api/setting/update', { body: { banGuardDriver } });
const own = async (folder: string) =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('weir')).sort();

test('a panel bans by fail2ban, from the installation to the removal', async (t) => {
  const { fail2ban, panel, open, weir } = await world(t);
  await fail2ban.start();
  await use(panel, 'fail2ban');
  await panel.until(
    async () => (await problemOf(panel)).includes('no jail weir-limit'),
    'it says what is missing',
  );

  const dry = await weir('install');
  t.is(dry.code, 1);
  t.regex(dry.said, /new: .*jail\.d\/weir-limit\.conf/);
  t.regex(dry.said, new RegExp(`logpath = ${panel.dataDirectory}/ban-guard/limit\\.log`));
  t.deepEqual(await own(fail2ban.folder), [], 'without --yes nothing is written');
  const done = await weir('install', '--yes');
  t.is(done.code, 0, done.complained);
  t.is((await own(fail2ban.folder)).length, 6);
  t.regex((await weir('show')).said, /unchanged: .*weir-login/);

  await reconcile(panel);
  t.is(await problemOf(panel), '');
  for (const body of [
    { address: '198.51.100.7', minutes: 10 },
    { address: '2001:db8:0:7::1' },
    { address: '198.51.100.8', scope: 'panel' },
  ])
    await panel.get(`${API}/ban`, { body });
  const rules = await fail2ban.rules();
  t.regex(rules, /198\.51\.100\.7 timeout 10m/);
  t.regex(rules, /2001:db8:0:7:: timeout 30m/);
  t.regex(rules, /198\.51\.100\.8/);
  const own7 = rules.slice(rules.indexOf('weir_f2b_limit'), rules.indexOf('weir_f2b_login'));
  t.regex(own7, /th dport != \{ 22,/);
  t.false(own7.includes('198.51.100.8'), 'a ban from the panel closes its ports alone');

  await fail2ban.client('set', 'weir-limit', 'banip', '203.0.113.50');
  await reconcile(panel);
  t.deepEqual(await listed(panel), [
    'panel 198.51.100.8',
    'proxy 198.51.100.7',
    'proxy 2001:db8:0:7::',
    'proxy 203.0.113.50',
  ]);
  await panel.get(`${API}/unban`, { body: { address: '203.0.113.50' } });
  t.false((await fail2ban.rules()).includes('203.0.113.50'));

  // Neither end of fail2ban nor of the panel ends a ban.
  await fail2ban.client('stop');
  t.is((await fail2ban.rules()).trim(), '');
  await reconcile(panel);
  t.regex(await problemOf(panel), /does not answer/);
  await panel.kill('SIGKILL');
  await fail2ban.start();
  const next = await open(panel.dataDirectory);
  await next.until(async () => (await problemOf(next)) === '', 'the driver works again');
  t.is((await listed(next)).length, 3);
  t.regex(await fail2ban.rules(), /198\.51\.100\.7/);

  t.deepEqual(await next.get(`${API}/unbanAll`, { method: 'POST' }), { ended: 3 });
  t.false(/198\.51\.100|2001:db8/.test(await fail2ban.rules()));
  t.is((await weir('remove')).code, 1);
  t.is((await own(fail2ban.folder)).length, 6);
  const removed = await weir('remove', '--yes');
  t.is(removed.code, 0, removed.complained);
  t.deepEqual(await own(fail2ban.folder), []);
  t.is((await fail2ban.rules()).trim(), '');
  t.regex(await fail2ban.client('status'), /Number of jail:\s*0/);
});

test('what fails its check is taken back, and a file of somebody else is not touched', async (t) => {
  const { fail2ban, weir } = await world(t);
  await fail2ban.start();
  const broken = join(fail2ban.folder, 'jail.d', 'broken.conf');
  await writeFile(broken, '[other]\nenabled = true\nfilter = there-is-none\nlogpath = /nowhere\n');
  const failed = await weir('install', '--yes');
  t.is(failed.code, 1);
  t.regex(failed.complained, /everything is as before/);
  t.deepEqual(await own(fail2ban.folder), []);
  await writeFile(broken, '');
  const foreign = join(fail2ban.folder, 'jail.d', 'weir-limit.conf');
  await writeFile(foreign, '# mine\n');
  const refused = await weir('install', '--yes');
  t.is(refused.code, 1);
  t.regex(refused.complained, /was not written by weir/);
  t.is(await readFile(foreign, 'utf8'), '# mine\n');
  t.is((await own(fail2ban.folder)).length, 1);
});

test('files for other ports than those of the panel are a problem, and nobody is banned', async (t) => {
  const { fail2ban, panel, weir } = await world(t);
  await fail2ban.start();
  t.is((await weir('install', '--yes')).code, 0);
  const path = join(fail2ban.folder, 'action.d', 'weir-limit.conf');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace(/th dport != \{ 22, /g, 'th dport != { 23, '));
  await use(panel, 'fail2ban');
  await panel.until(async () => (await problemOf(panel)).includes('does not fit'), 'it is a problem');
  t.is((await panel.call(`${API}/ban`, { body: { address: '198.51.100.7' } })).status, 503);
  t.is((await weir('install', '--yes')).code, 0);
  await until(async () => {
    await reconcile(panel);
    return (await problemOf(panel)) === '';
  }, 'the command has put it right');
});
