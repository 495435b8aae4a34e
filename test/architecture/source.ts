// The sources of the checkout as the rules of the house see them: without comments, with what they import.
import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { sourceRoot } from '../harness/source-root.js';

export interface Source {
  /** from the root of the checkout, with slashes */
  readonly path: string;
  readonly text: string;
  /** the text with comments blanked out, line by line as it was */
  readonly code: string;
  /** lines that are neither blank nor comment */
  readonly size: number;
  /** files of the checkout, as paths of sources; packages are left out */
  readonly imports: readonly string[];
  readonly isTest: boolean;
}

// Strings, templates and regular expressions are matched so that what looks like a comment inside them is none.
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|(?<=(?:[(,=:[!&|?{};]|return|=>)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)'([^']+)'/g;

const withoutComments = (text: string): string =>
  text.replaceAll(TOKEN, (token) => (/^\/[/*]/.test(token) ? token.replaceAll(/[^\n]/g, ' ') : token));

export function sourceOf(path: string, text: string): Source {
  const code = withoutComments(text);
  // Templates may hold sources of their own, and so may what stands between double quotes, which no import of ours does.
  const imports = [
    ...code.replaceAll(TOKEN, (token) => (/^[`"]/.test(token) ? '``' : token)).matchAll(IMPORT),
  ]
    .map(([, target = '']) => target)
    .filter((target) => target.startsWith('.'))
    .map((target) => posix.join(posix.dirname(path), target).replace(/\.js$/, '.ts'));
  return {
    path,
    text,
    code,
    imports,
    size: code.split('\n').filter((line) => line.trim() !== '').length,
    isTest: /(?:^|\/)test\/|\.test\.ts$/.test(path),
  };
}

/** What a checkout holds besides what is committed, as .gitignore says, and git's own folder. */
const NOT_OURS = /^(?:node_modules|dist|data|\.git)$/;

/** Every file of the checkout that is committed or could be; those that end with `ending`. */
export async function filesOf(ending = ''): Promise<{ path: string; text: string }[]> {
  const root = await sourceRoot();
  const paths: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(new URL(folder, root), { withFileTypes: true })) {
      if (NOT_OURS.test(entry.name)) continue;
      if (entry.isDirectory()) await walk(`${folder}${entry.name}/`);
      else if (entry.isFile() && entry.name.endsWith(ending) && !entry.name.endsWith('.log'))
        paths.push(`${folder}${entry.name}`);
    }
  };
  await walk('./');
  return Promise.all(
    paths.map(async (path) => ({ path: path.slice(2), text: await readFile(new URL(path, root), 'utf8') })),
  );
}

let known: Promise<readonly Source[]> | undefined;
/** All sources but these tests, which quote what they forbid. Read once per process. */
export const sources = (): Promise<readonly Source[]> =>
  (known ??= filesOf('.ts').then((files) =>
    files
      .filter(({ path }) => !path.startsWith('test/architecture/'))
      .map(({ path, text }) => sourceOf(path, text)),
  ));

/** The plugin a file belongs to. */
export const pluginOf = (path: string): string | undefined => /^plugins\/([^/]+)\//.exec(path)?.[1];
