// What a browser loads before the dashboard is there: at most 250 KiB.
import { readdir, readFile, stat } from 'node:fs/promises';
import test from 'ava';

const MOST_BYTES = 250 * 1024;
const site = new URL('../site/', import.meta.url);

test('the first load is small enough for a slow line', async (t) => {
  const html = await readFile(new URL('index.html', site), 'utf8');
  const named = [...html.matchAll(/"\.\/assets\/([^"]+)"/g)].map(([, name = '']) => name);
  const all = await readdir(new URL('gzip/assets/', site));
  const language = all.filter((name) => /^(?:en|fa|ru|zh|ar)-\w{8}\.js$/.test(name));
  t.true(named.some((name) => name.endsWith('.js')) && named.some((name) => name.endsWith('.css')));
  t.is(language.length, 5);
  const sizeOf = async (name: string): Promise<number> =>
    (await stat(new URL(`gzip/assets/${name}`, site))).size;
  const sizes = await Promise.all(named.map(sizeOf));
  const languages = await Promise.all(language.map(sizeOf));
  const size = sizes.reduce((sum, one) => sum + one, html.length) + Math.max(...languages);
  t.log(`${(size / 1024).toFixed(1)} KiB: ${named.map((name, i) => `${name} ${sizes[i]}`).join(', ')}`);
  t.true(size <= MOST_BYTES, `${size} bytes`);
});

test('the page comes with the licences of what is in it', async (t) => {
  const packages = JSON.parse(await readFile(new URL('packages.json', site), 'utf8')) as string[];
  t.true(packages.includes('react') && packages.includes('uplot'), packages.join());
  const licences = await readFile(new URL('LICENCES.txt', site), 'utf8');
  for (const name of packages) t.true(licences.includes(`${name} `), name);
});
