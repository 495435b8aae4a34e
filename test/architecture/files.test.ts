// Files of a size and a name that tell what is inside, and nothing in them of the machine they were written on.
import test from 'ava';
import { filesOf, type Source, sourceOf, sources } from './source.js';

const MOST_LINES = 330;
/** A test reads from top to bottom, and to split one would mean to repeat its world. */
const MOST_LINES_OF_TEST = 500;
const EMPTY_NAMES = /(?:^|[-./])(?:utils?|helpers?|managers?|commons?)(?=[-./]|$)/i;
/** Doors: what packages and plugins are entered by. */
const DOORS = /^(?:kernel\/index|plugins\/[^/]+\/contract|test\/harness\/index|sdk\/index)\.ts$/;
const GENERATED = /^\/\/ Generated /;

function tooLong({ path, text, isTest }: Source): string[] {
  const lines = text.trimEnd().split('\n').length;
  const most = isTest ? MOST_LINES_OF_TEST : MOST_LINES;
  return lines <= most || GENERATED.test(text)
    ? []
    : [
        `${path} has ${lines} lines, ${most} are allowed; it holds a second thought that wants a file of its own`,
      ];
}

const emptyName = (path: string): string[] =>
  EMPTY_NAMES.test(path) ? [`${path} has a name that says nothing; name the file after what it does`] : [];

function barrel({ path, code, imports }: Source): string[] {
  if (DOORS.test(path)) return [];
  if (/\bexport\s*\*/.test(code))
    return [`${path} exports everything of another file; name what is exported`];
  const rest = code.replaceAll(/(?:export|import)\s+(?:type\s+)?\{[^}]*\}\s*from\s*'[^']*';/g, '').trim();
  return rest === '' && imports.length > 0
    ? [`${path} only passes on what others export; import it where it is`]
    : [];
}

/** Homes, checkouts and the hosts of registries: true for one machine only. */
const MACHINE = [
  /(?<![\w.}])\/(?:home|Users)\/[\w.-]+/,
  /(?<![\w.}])\/(?:root|work|workspace)\/\w/,
  /\b[A-Z]:\\Users\\/,
  /\bregistry\.(?:[\w-]+\.)+(?:com|org|io|net|dev|cn)\b/,
  /\b(?:npmmirror|artifactory|verdaccio)\b/i,
  /\b(?:proxy|sum)\.golang\.org\b/,
];

/** A default of WEIR_CERTIFICATE_DIRS, where other programs keep certificates on every machine. */
const EVERYWHERE = /\/root\/cert(?![\w/.-])/g;

function machineBound({ path, text }: { path: string; text: string }): string[] {
  const patterns = path === 'package-lock.json' ? MACHINE.slice(0, 3) : MACHINE;
  return text
    .split('\n')
    .flatMap((line, i) =>
      patterns.flatMap((pattern) =>
        pattern.exec(line.replaceAll(EVERYWHERE, ''))
          ? [`${path}:${i + 1} names "${pattern.exec(line)?.[0]}", which holds for one machine only`]
          : [],
      ),
    );
}

test(`no file has more than ${MOST_LINES} lines, no test more than ${MOST_LINES_OF_TEST}`, async (t) => {
  t.deepEqual((await sources()).flatMap(tooLong), []);
});

test('every file is named after what it does', async (t) => {
  t.deepEqual(
    (await filesOf()).flatMap(({ path }) => emptyName(path)),
    [],
  );
});

test('nothing is a barrel but the doors', async (t) => {
  t.deepEqual((await sources()).flatMap(barrel), []);
});

test('no file names a path of a machine or the host of a registry', async (t) => {
  const files = await filesOf();
  t.true(
    files.some(({ path }) => path === 'package-lock.json') && files.some(({ path }) => path === 'README.md'),
  );
  t.deepEqual(
    files.filter(({ path }) => path !== 'test/architecture/files.test.ts').flatMap(machineBound),
    [],
  );
  const lock = files.find(({ path }) => path === 'package-lock.json')?.text ?? '';
  const hosts = new Set(
    [...lock.matchAll(/"resolved": "https?:\/\/([^/"]+)/g)]
      .map(([, host]) => host)
      .filter((host) => host !== 'registry.npmjs.org'),
  );
  t.deepEqual(
    [...hosts],
    [],
    'package-lock.json was written against another registry; set the default one and write it again',
  );
});

test('the rules see what they forbid', (t) => {
  t.is(tooLong(sourceOf('kernel/a.ts', 'x;\n'.repeat(331))).length, 1);
  t.is(tooLong(sourceOf('kernel/test/a.test.ts', 'x;\n'.repeat(331))).length, 0);
  for (const path of [
    'kernel/utils.ts',
    'plugins/a/helper.ts',
    'plugins/common/index.ts',
    'a/session-manager.ts',
  ])
    t.is(emptyName(path).length, 1, path);
  for (const path of ['plugins/a/commonplace.ts', 'plugins/manage.ts']) t.is(emptyName(path).length, 0, path);
  t.is(
    barrel(
      sourceOf('plugins/a/all.ts', "// all\nexport { x } from './x.js';\nexport type { y } from './y.js';\n"),
    ).length,
    1,
  );
  t.is(barrel(sourceOf('plugins/a/all.ts', "export * from './x.js';\nconst y = 1;")).length, 1);
  t.is(barrel(sourceOf('plugins/a/contract.ts', "export { x } from './x.js';")).length, 0);
  for (const text of [
    '/home/ada/weir',
    '"/Users/ada"',
    'C:\\Users\\ada',
    '(/root/x',
    'https://registry.example.com/',
    'registry.npmjs.org',
  ])
    t.is(machineBound({ path: 'a', text }).length, 1, text);
  t.is(machineBound({ path: 'a', text: "'/root/certs', '/root/cert/x'" }).length, 1);
  for (const text of ['registry.check(x)', '${data}/root/x', '/etc/ssl', 'the-root/x', "'/root/cert'"])
    t.is(machineBound({ path: 'a', text }).length, 0, text);
});
