// Files of fail2ban are put in place and removed in an order in which a kill breaks nothing.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { fail2banFiles } from '../../../plugins/ban-guard/contract.js';
import { changes, Fail2ban, plan } from '../fail2ban-files.js';

const FILES = fail2banFiles('/var/lib/weir', { open: [22], panel: [2053] });

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['filter.d', 'action.d', 'jail.d']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'fail2ban.conf'), '');
  return folder;
}
const own = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('weir')).sort();

test('a jail comes after its filter and action, and goes before them', async (t) => {
  const folder = await folderOf(t);
  const fail2ban = new Fail2ban(folder, async () => '');
  const names = (files: readonly { path: string }[]) => files.map(({ path }) => relative(folder, path));
  const kinds = (files: readonly { path: string }[]) =>
    names(files)
      .filter((name) => name.includes('limit'))
      .map((name) => name.split('/')[0]);
  const wanted = await plan(folder, FILES, true);
  t.deepEqual(kinds(wanted), ['filter.d', 'action.d', 'jail.d']);
  t.true(await fail2ban.apply(changes(wanted), []));
  t.is((await own(folder)).length, 6);
  t.deepEqual(changes(await plan(folder, FILES, true)), []);
  const unwanted = await plan(folder, FILES, false);
  t.deepEqual(kinds(unwanted), ['jail.d', 'action.d', 'filter.d']);
  await fail2ban.apply(changes(unwanted), []);
  t.deepEqual(await own(folder), []);
});

test('what fails its check is as before, byte for byte', async (t) => {
  const folder = await folderOf(t);
  const calls: string[] = [];
  let failing = '-t';
  const fail2ban = new Fail2ban(folder, async (_, [, , what = '']) => {
    calls.push(what);
    if (what === failing) throw new Error('no');
    return '';
  });
  await t.throwsAsync(fail2ban.apply(changes(await plan(folder, FILES, true)), []), {
    message: 'no; everything is as before',
  });
  t.deepEqual(await own(folder), []);
  t.deepEqual(calls, ['-t'], 'nothing was loaded');
  failing = '';
  await fail2ban.apply(changes(await plan(folder, FILES, true)), ['weir-limit']);
  const path = join(folder, 'jail.d', 'weir-limit.conf');
  const before = await readFile(path, 'utf8');
  calls.length = 0;
  failing = 'status';
  const others = fail2banFiles('/srv/weir', { open: [22], panel: [2053] });
  await t.throwsAsync(fail2ban.apply(changes(await plan(folder, others, true)), ['weir-limit']));
  t.is(await readFile(path, 'utf8'), before);
  t.deepEqual(calls, ['-t', 'ping', 'reload', 'status', 'reload'], 'and the previous jails run again');
});
