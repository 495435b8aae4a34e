// Test files that share a process: which may, and what each keeps for itself.
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { sourceRoot } from '../source-root.js';

type Teardown = () => void;
type Body = (t: { readonly teardown: (work: Teardown) => void }) => Promise<void>;
interface Note {
  readonly running?: string;
  readonly times: Readonly<Record<string, number>>;
}
interface Groups {
  readonly divide: (files: readonly { file: string; ms: number }[]) => string[][];
  readonly loadsNock: (file: string) => Promise<boolean>;
  readonly isAlone: (file: string, source: string, ms: number) => boolean;
}
interface Group {
  readonly test: { requireTestsIn(paths: readonly string[]): void };
}
type MakeGroup = new (chain: unknown, root: string, keepNote: (note: Note) => void) => Group;

const load = async (path: string): Promise<unknown> => import(new URL(path, await sourceRoot()).href);
const loadGroups = async (): Promise<Groups> => (await load('bin/test-groups.mjs')) as Groups;

test('a group has every file once, and the long ones are spread', async (t) => {
  const { divide } = await loadGroups();
  const files = Array.from({ length: 60 }, (_, i) => ({ file: `${i}`, ms: i < 2 ? 9_000 : 500 }));
  const groups = divide(files);
  t.is(groups.length, Math.ceil((2 * 9_000 + 58 * 500) / 35_000));
  t.deepEqual(groups.flat().toSorted(), files.map(({ file }) => file).toSorted());
  for (const group of groups) t.is(group.filter((file) => Number(file) < 2).length, 1);
  t.deepEqual(divide([]), []);
});

test('a file whose helper loads nock has a process for itself', async (t) => {
  const { loadsNock } = await loadGroups();
  t.true(await loadsNock('dist/plugins/edgetunnel/test/bad-input.test.js'));
  t.false(await loadsNock('dist/plugins/outgoing/test/proxy.test.js'));
});

test('what changes the whole process, waits at the top, needs a core or is long has a process for itself', async (t) => {
  const { isAlone } = await loadGroups();
  for (const line of [
    '// Runs alone: it looks at the memory of its process.',
    "import nock from 'nock';",
    "  process.env['LANG'] = 'xx_XX';",
    '  process.umask(0o022);',
    "  setFlagsFromString('--expose-gc');",
    'await open();',
    'const world = await open();',
    'const testWithRight = testUnless(await new Sockets().obstacle());',
  ])
    t.true(isAlone('dist/a/test/b.test.js', `// About b.\n${line}\n`, 100), line);
  t.true(isAlone('dist/a/test/b.core.test.js', '', 100));
  const waits = "import { PanelProcess } from '../harness/panel-process.js';";
  t.deepEqual(
    [6_000, 8_000].map((ms) => isAlone('dist/a/test/b.test.js', waits, ms)),
    [false, true],
  );
  t.deepEqual(
    [19_000, 21_000].map((ms) => isAlone('dist/a/test/b.test.js', '', ms)),
    [false, true],
  );
  for (const line of ['  const world = await open();', "const root = process.env['HOME'];"])
    t.false(isAlone('dist/a/test/b.test.js', `// About b.\n${line}\n`, 100), line);
});

test('each file of a group keeps its hooks and titles, and notes say which test runs', async (t) => {
  const { TestGroup } = (await load('test/harness/test-group.mjs')) as { TestGroup: MakeGroup };
  const root = `${await realpath(await mkdtemp(join(tmpdir(), 'weir-group-')))}/`;
  t.teardown(() => rm(root, { recursive: true }));
  const events: string[] = [];
  const declared: { title: string; body: Body }[] = [];
  const notes: Note[] = [];
  const teardowns: Teardown[] = [];
  const chain = {
    serial: (title: string, body: Body) => void declared.push({ title, body }),
    skip: (title: string) => void declared.push({ title: `skipped ${title}`, body: async () => undefined }),
  };
  const group = new TestGroup(chain, root, (note) => void notes.push(note));
  const say = (event: string): void => void events.push(event);
  const text = (name: string): string => `export default (test, say) => {
    for (const hook of ['before', 'beforeEach']) test[hook](() => say('${name} ' + hook));
    for (const hook of ['after', 'afterEach']) test[hook].always(() => say('${name} ' + hook));
    test('one', () => { say('${name} one'); throw new Error('fails'); });
    test.serial('two', () => say('${name} two'));
    test.skip('three', () => say('${name} three'));
  };`;
  for (const name of ['a', 'b']) {
    await writeFile(join(root, `${name}.test.js`), text(name));
    const file = (await import(pathToFileURL(join(root, `${name}.test.js`)).href)) as {
      default: (test: unknown, say: unknown) => void;
    };
    file.default(group.test, say);
  }
  t.notThrows(() => group.test.requireTestsIn(['dist/a.test.js', 'dist/b.test.js']));
  t.throws(() => group.test.requireTestsIn(['dist/a.test.js', 'dist/c.test.js']), {
    message: 'no test is declared in dist/c.test.js',
  });
  const failed: string[] = [];
  const teardown = (work: Teardown): void => void teardowns.push(work);
  for (const { title, body } of declared) await body({ teardown }).catch(() => failed.push(title));
  t.deepEqual(
    declared.map(({ title }) => title),
    ['a › one', 'a › two', 'skipped a › three', 'b › one', 'b › two', 'skipped b › three'],
  );
  t.deepEqual(failed, ['a › one', 'b › one']);
  const course = ['before', 'beforeEach', 'one', 'afterEach', 'beforeEach', 'two', 'afterEach', 'after'];
  t.deepEqual(
    events,
    ['a', 'b'].flatMap((name) => course.map((event) => `${name} ${event}`)),
  );
  t.deepEqual(
    notes.map(({ running }) => running),
    ['a: one', 'a: two', 'b: one', 'b: two'].flatMap((title) => [
      `dist/${title.replace(':', '.test.js:')}`,
      undefined,
    ]),
  );
  t.notThrows(() => {
    for (const work of teardowns) work();
  });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const warned = once(process, 'warning') as Promise<[Error]>;
  teardowns.at(-1)?.();
  t.regex((await warned)[0].message, /^dist\/b\.test\.js leaves 1 servers open/);
  await new Promise((resolve) => server.close(resolve));
  t.deepEqual(Object.keys(notes.at(-1)?.times ?? {}), ['dist/a.test.js', 'dist/b.test.js']);
});
