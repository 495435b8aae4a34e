import { access, readFile } from 'node:fs/promises';
import test from 'ava';
import hello from '../../examples/hello/index.js';
import { KERNEL_API } from '../../kernel/plugin/define.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { filesOf } from '../architecture/source.js';
import { sourceRoot } from '../harness/source-root.js';

test('the plugin that the README shows is examples/hello, and it greets', async (t) => {
  const root = await sourceRoot();
  const [readme, example] = await Promise.all(
    ['README.md', 'examples/hello/index.ts'].map((path) => readFile(new URL(path, root), 'utf8')),
  );
  t.true(readme?.includes(example?.trimEnd() ?? 'no example'));
  await using panel = await TestPanel.boot({ plugins: [hello, new FakeEngine().plugin] });
  t.deepEqual(await panel.get('/panel/api/x/hello/world'), { greeting: 'hello, world' });
});

test('every link and every path in the docs leads to a file', async (t) => {
  const root = await sourceRoot();
  const pages = (await filesOf('.md')).filter(({ path }) => path !== 'docs/writing.md');
  const exists = (path: string, base: string) =>
    access(new URL(path, new URL(base, root))).then(
      () => true,
      () => false,
    );
  t.true(pages.length > 40, 'hardly a page was found');
  const dead: string[] = [];
  for (const { path: page, text } of pages) {
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
    for (const [, target = ''] of prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
      if (!(await exists(target, page))) dead.push(`${page} links to ${target}`);
    if (page === 'CHANGELOG.md' || page.startsWith('docs/decisions/')) continue;
    // Paths from the root, or from the folder of a plugin in its README.
    for (const [, named = ''] of prose.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|mjs|md))`/g))
      if (!(await exists(named, '.')) && !(await exists(named, page))) dead.push(`${page} names ${named}`);
  }
  t.deepEqual(dead, []);
});

test('every promise in SECURITY.md names tests that are there', async (t) => {
  const root = await sourceRoot();
  const text = await readFile(new URL('SECURITY.md', root), 'utf8');
  const promises = [...text.matchAll(/^\| (?!Promise|---)(.+) \|$/gm)].map(([, row = '']) =>
    row.split(' | '),
  );
  t.true(promises.length > 30, 'hardly a promise was found');
  for (const [promise = '', , tests = ''] of promises) {
    const files = [...tests.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
    t.true(files.length > 0, `${promise}: no test is named`);
    for (const file of files) await t.notThrowsAsync(readFile(new URL(file, root)), `${promise}: ${file}`);
  }
});

test('the changelog has the current version, newest first', async (t) => {
  const root = await sourceRoot();
  const [changelog = '', manifest = '{}'] = await Promise.all(
    ['CHANGELOG.md', 'package.json'].map((path) => readFile(new URL(path, root), 'utf8')),
  );
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
  const { version } = JSON.parse(manifest) as { version: string };
  t.true(
    headings.some((heading) => heading.startsWith(`[${version}] - `)),
    `CHANGELOG.md has no heading "## [${version}] - …"`,
  );
  for (const heading of headings)
    t.regex(heading, /^\[Unreleased\]$|^\[\d+\.\d+\.\d+\] - (?:unreleased|\d{4}-\d{2}-\d{2})$/);
});

test('the contract that the guide promises is the one that the kernel has', async (t) => {
  const guide = await readFile(new URL('docs/plugin-guide.md', await sourceRoot()), 'utf8');
  t.true(guide.includes(`## What \`api: ${KERNEL_API}\` promises`));
});
