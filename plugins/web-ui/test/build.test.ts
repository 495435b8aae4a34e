// What the page is made of: a page that was built before is taken again while none of it has changed.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { sourceRoot } from '../../../test/harness/source-root.js';

const IMPORT = /(?:from|import) '(\.[^']+)'|import\('(\.[^']+)'\)/g;

test('each source that the page imports from outside of its folder counts as a source of it', async (t) => {
  const root = fileURLToPath(await sourceRoot());
  const { OTHERS } = (await import(join(root, 'bin', 'web-page.mjs'))) as { OTHERS: readonly string[] };
  const page = join(root, 'plugins', 'web-ui', 'page');
  const files = await readdir(page, { recursive: true });
  const outside = new Set<string>();
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    const text = await readFile(join(page, file), 'utf8');
    for (const [, from, late] of text.matchAll(IMPORT)) {
      const target = join(page, dirname(file), from ?? late ?? '');
      if (relative(page, target).startsWith('..'))
        outside.add(relative(root, target).replace(/\.js$/, '.ts'));
    }
  }
  t.true(outside.has(join('plugins', 'web-ui', 'call-pattern.ts')));
  t.deepEqual(
    [...outside].filter((path) => !OTHERS.some((other) => path === other || path.startsWith(`${other}/`))),
    [],
  );
});
