// docs/moving-in.md: its text is written by hand, its tables from methods.ts.
import { readFile } from 'node:fs/promises';
import { JAVASCRIPT, type Method, PYTHON } from './methods.js';

export const PAGE = 'docs/moving-in.md';
const [FROM, TO] = ['<!-- methods: written by node bin/reference.mjs -->', '<!-- end of methods -->'];

const said = (method: Method): string =>
  method.works
    ? `works${method.note === undefined ? '' : `: ${method.note}`}`
    : `not yet: \`${method.endpoint}\` is still to come, so it answers 404`;

/** Those that work without a word more are one line; each of the others has a line of its own. */
function table(library: string, version: string, methods: Readonly<Record<string, Method>>): string {
  const names = Object.keys(methods).sort();
  const plain = names.filter((name) => said(methods[name] as Method) === 'works');
  const others = names.filter((name) => !plain.includes(name));
  const works = names.filter((name) => methods[name]?.works).length;
  return [
    `### ${library} ${version}: ${works} of ${names.length} methods work`,
    '',
    '| Method | |',
    '| --- | --- |',
    `| ${plain.map((name) => `\`${name}\``).join(', ')} | works |`,
    ...others.map((name) => `| \`${name}\` | ${said(methods[name] as Method)} |`),
    '',
  ].join('\n');
}

/** The page as it is, with the tables as they should be. */
export async function movingInPage(root: URL): Promise<string> {
  const read = (path: string) => readFile(new URL(path, root), 'utf8');
  const page = await read(PAGE);
  const [before, after] = [page.indexOf(FROM), page.indexOf(TO)];
  if (before < 0 || after < before) throw new Error(`${PAGE} must have a line ${FROM} and, below it, ${TO}`);
  const manifest = JSON.parse(await read('package.json')) as { devDependencies: Record<string, string> };
  const packages = await read('test/old-libraries/python/requirements.txt');
  const pinned = /^py3xui==(.+)$/m.exec(packages)?.[1] ?? 'of no version';
  const tables = [
    table('py3xui', pinned, PYTHON),
    table('3xui-api-client', manifest.devDependencies['3xui-api-client'] ?? 'of no version', JAVASCRIPT),
  ];
  return `${page.slice(0, before)}${FROM}\n\n${tables.join('\n')}\n${page.slice(after)}`;
}
