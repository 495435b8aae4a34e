// Small test files share a process: the start of one costs more than most of their tests.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { root } from './setup.mjs';

export const FOLDER_OF_GROUPS = join('dist', '.groups');
/** What a source contains that has its process for itself. */
const ALONE = [
  // It says so, with the reason.
  /^\/\/ Runs alone: /m,
  // ava takes no test that is declared after a wait.
  /^(?![\s/*])(?!.*\basync\b).*\bawait\b/m,
  // What it changes holds for the whole process.
  /\bnock\b|^ *process\.env\S* = |\b(?:umask|chdir|setFlagsFromString)\(/m,
];
const CORE = /\.core(?:\.full)?\.test\.js$/;
/** Its tests wait for programs, so it is better that several of them run at once. */
const WAITS = /\b(?:PanelProcess|weirCommand|outsider|node:child_process)\b/;
/** A file longer than this has a process for itself. */
const LONG_MS = { waits: 7_000, works: 20_000 };
const GROUP_MS = 35_000;
const TEST_MS = { waits: 2_000, works: 400 };
const kindOf = (source) => (WAITS.test(source) ? 'waits' : 'works');

/** `ms` is how long it takes. */
export const isAlone = (file, source, ms) =>
  CORE.test(file) || ALONE.some((sign) => sign.test(source)) || ms > LONG_MS[kindOf(source)];

const texts = new Map();
/** The compiled text; blank where there is none, as an import may stand in a text that a test writes. */
function textOf(file) {
  if (!texts.has(file))
    texts.set(
      file,
      readFile(join(root, file), 'utf8').catch(() => ''),
    );
  return texts.get(file);
}

/** Whether this compiled file, or a helper of tests that it imports, loads nock, which changes the HTTP client of its whole process. */
export async function loadsNock(file) {
  const all = new Set([file]);
  for (const one of all) {
    const text = await textOf(one);
    if (/\bfrom 'nock'/.test(text)) return true;
    for (const [, path] of text.matchAll(/\bfrom '(\.[^']+)'/g)) {
      const imported = join(dirname(one), path);
      if (/(?:^|\/)test\//.test(imported)) all.add(imported);
    }
  }
  return false;
}

/** A guess, for a file that nobody has timed yet. */
export const guess = (source) => source.split(/^ *test(?:\.serial)?\(/m).length * TEST_MS[kindOf(source)];

/** Divides files of `{ file, ms }` into groups of about the same time. */
export function divide(files) {
  const total = files.reduce((sum, { ms }) => sum + ms, 0);
  const groups = Array.from({ length: Math.ceil(total / GROUP_MS) }, () => ({ files: [], ms: 0 }));
  // The longest first, each to the group that has least.
  for (const { file, ms } of files.toSorted((a, b) => b.ms - a.ms)) {
    const least = groups.reduce((a, b) => (b.ms < a.ms ? b : a));
    least.files.push(file);
    least.ms += ms;
  }
  return groups.map(({ files: some }) => some);
}

export const forgetGroups = () => rm(join(root, FOLDER_OF_GROUPS), { recursive: true, force: true });

/** The files for ava: those that run alone, and one that is written here for each group of others. `sources` are texts by file, `times` ms by file. */
export async function groupFiles(name, files, sources, times) {
  const timed = files.map((file) => ({ file, ms: times[file] ?? guess(sources.get(file)) }));
  const small = [];
  for (const one of timed)
    if (!isAlone(one.file, sources.get(one.file), one.ms) && !(await loadsNock(one.file))) small.push(one);
  const groups = divide(small).filter(({ length }) => length > 1);
  const isInGroup = new Set(groups.flat());
  await mkdir(join(root, FOLDER_OF_GROUPS), { recursive: true });
  const written = groups.map(async (some, index) => {
    const path = join(FOLDER_OF_GROUPS, `${name}-group-${index + 1}.test.js`);
    const lines = some.map((file) => `import '${relative(FOLDER_OF_GROUPS, file)}';`);
    const text = ["import test from 'ava';", ...lines, `test.requireTestsIn(${JSON.stringify(some)});`];
    await writeFile(join(root, path), `${text.join('\n')}\n`);
    return path;
  });
  return [...files.filter((file) => !isInGroup.has(file)), ...(await Promise.all(written))];
}
