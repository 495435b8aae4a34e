// Pages of plugins: what a declaration must be, and the files that are served.
import { mkdtemp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { type PluginPage, PluginPages } from '../contract.js';
import { pageProblem } from '../page-problem.js';

async function madeFolder() {
  const root = await mkdtemp(join(tmpdir(), 'plugin-page-'));
  const folder = join(root, 'page');
  await mkdir(folder);
  await writeFile(join(root, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>x</title>');
  await writeFile(join(folder, 'run.exe'), 'x');
  await writeFile(join(folder, '.hidden.txt'), 'x');
  await writeFile(join(folder, 'large.js'), Buffer.alloc(5 * 1024 * 1024, 32));
  await symlink(join(root, 'secret.txt'), join(folder, 'out.txt'));
  return { folder, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}
const pageIn = (folder: string): PluginPage => ({
  key: 'one',
  title: { en: 'One', fa: 'یک' },
  icon: 'chart',
  folder,
  api: ['GET x/acme/**'],
});

test('a declaration that does not fit names its field', async (t) => {
  await using made = await madeFolder();
  const good = pageIn(made.folder);
  const problem = (changes: object) =>
    pageProblem({ ...good, ...changes } as PluginPage, { name: 'acme' }, []);
  t.is(problem({}), undefined);
  for (const [changes, wanted] of [
    [{ title: { en: 'x'.repeat(65_536) } }, /title\.en must be a text of 1 to 40/],
    [{ title: { en: 'x', fa: 'a\u202eb' } }, /title\.fa must have no invisible/],
    [{ title: { fa: 'x' } }, /title\.en is missing/],
    [{ key: '../x' }, /key/],
    [{ icon: 'skull' }, /icon must be one of/],
    [{ folder: 'page' }, /folder must be an absolute/],
    [{ entry: '../secret.html' }, /entry must be the name/],
    [{ entry: 'none.html' }, /folder has no such entry/],
    [{ api: ['GET **'] }, /api\[0\] is no call/],
  ] as const)
    t.regex(problem(changes) ?? '', wanted);
  t.regex(pageProblem(good, { name: 'acme' }, [{ plugin: 'acme', value: good }]) ?? '', /twice/);
  t.is(pageProblem(good, { name: 'acme' }, [{ plugin: 'other', value: good }]), undefined);
});

test('files are served with the policy of the frame; nothing else is', async (t) => {
  await using made = await madeFolder();
  const acme = definePlugin({
    name: 'acme',
    version: '1.0.0',
    api: 1,
    about: 'A page.',
    contributes: () => [contribute(PluginPages, pageIn(made.folder))],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [acme] });
  const get = (path: string) => fetch(`${panel.url}/panel/plugin-pages/${path}`);
  const page = await get('acme/one/index.html');
  t.is(page.status, 200);
  const policy = page.headers.get('content-security-policy') ?? '';
  for (const part of [
    'sandbox allow-scripts',
    "connect-src 'none'",
    "frame-ancestors 'self'",
    "default-src 'none'",
  ])
    t.true(policy.includes(part), part);
  t.is((await get('weir-page.js')).status, 200);
  // Otherwise a browser refuses the files to a frame without an origin.
  for (const path of ['acme/one/index.html', 'weir-page.js'])
    t.is((await get(path)).headers.get('cross-origin-resource-policy'), 'cross-origin', path);
  for (const path of [
    'acme/one/',
    'acme/one',
    'acme/two/index.html',
    'other/one/index.html',
    'acme/one/run.exe',
    'acme/one/.hidden.txt',
    'acme/one/large.js',
    'acme/one/out.txt',
    'acme/one/%2e%2e/secret.txt',
    'acme/one/..%2fsecret.txt',
  ])
    t.not((await get(path)).status, 200, path);
  const { body } = await panel.call<unknown[]>('/panel/api/x/web-ui/pages');
  t.like(body.obj[0], { plugin: 'acme', key: 'one', entry: 'index.html', api: ['GET x/acme/**'] });
  t.is((await fetch(`${panel.url}/panel/api/x/web-ui/pages`)).status === 200, false);
});
