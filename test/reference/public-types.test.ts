// docs/reference/kernel.d.ts is enough to write a plugin against, and says what the sources say.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { parseDeclarations } from './declaration-files.js';
import { doorsOf, momentsOf } from './public-types.js';
import { references, publicClass } from './type-text.js';

/** A folder outside the checkout with copies of its files. Resolves with what the compiler complains of. */
async function compile(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  packages: readonly string[],
  options: object = {},
): Promise<string> {
  const root = fileURLToPath(await sourceRoot());
  const folder = await mkdtemp(join(tmpdir(), 'weir-types-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  if (!packages.includes('@weir-panel/weir'))
    await cp(join(root, 'docs', 'reference', 'kernel.d.ts'), join(folder, 'kernel.d.ts'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  for (const name of packages) {
    await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
    await symlink(
      name === '@weir-panel/weir' ? root : join(root, 'node_modules', name),
      join(folder, 'node_modules', name),
    );
  }
  const types = packages.includes('@types') ? ['node'] : [];
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable', 'dom'],
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types,
    noEmit: true,
    ...options,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'node_modules', 'typescript', 'bin', 'tsc')],
      { cwd: folder },
      (_, stdout, stderr) => resolve(`${stdout}${stderr}`),
    );
  });
}

const example = async (path: string): Promise<string> =>
  readFile(new URL(`examples/${path}`, await sourceRoot()), 'utf8');
const PACKAGES = ['@types', 'joi', '@hapi', '@standard-schema', 'sequelize', 'ava'];

test('examples/hello compiles against that file alone, with nothing installed', async (t) => {
  t.is(await compile(t, { 'index.ts': await example('hello/index.ts') }, []), '');
});

test('with the packages that it names it compiles in all its parts, and mistakes in a plugin are seen', async (t) => {
  const tally = {
    'index.ts': await example('acme-tally/index.ts'),
    'tables.ts': await example('acme-tally/tables.ts'),
    'tally.ts': await example('acme-tally/tally.ts'),
    'test/tally.test.ts': await example('acme-tally/test/tally.test.ts'),
  };
  t.is(
    await compile(t, { ...tally, 'hello.ts': await example('hello/index.ts') }, PACKAGES, {
      skipLibCheck: false,
    }),
    '',
  );
  const wrong = {
    'hello.ts': (await example('hello/index.ts')).replace('`hello, ${params.name}`', 'params.name.length'),
    'tap.ts':
      "import { tap } from '@weir-panel/weir/kernel';\nimport { clientDepleted } from '@weir-panel/weir/plugins/traffic';\nexport const t = tap(clientDepleted, ({ client }) => client);\n",
    'inside.ts':
      "import type { Connections } from '@weir-panel/weir/kernel';\nexport type C = Connections;\n",
    'test.ts': "import { TestPanel } from '@weir-panel/weir/testing';\nexport const p = new TestPanel();\n",
  };
  const complaints = await compile(t, wrong, PACKAGES);
  for (const file of Object.keys(wrong))
    t.regex(complaints, new RegExp(`^${file}\\(`, 'm'), `nothing is wrong with ${file}:\n${complaints}`);
});

test('every name of every door is there', async (t) => {
  const root = await sourceRoot();
  const doors = await doorsOf(root);
  t.true(doors.length > 9, 'hardly a door was found');
  let names = 0;
  const lines = await Promise.all(
    doors.map(async ({ module, path }, i) => {
      const { exported } = parseDeclarations(
        path,
        await readFile(new URL(`dist/${path}.d.ts`, root), 'utf8'),
      );
      names += exported.size;
      return [
        ...[...exported.keys()].map((name) => `export type { ${name} as ${name}${i} } from '${module}';`),
        `import type * as Told${i} from '${module}';`,
        `import type * as True${i} from '${new URL(`dist/${path}.js`, root).pathname}';`,
        `export const names${i}: readonly [keyof typeof Told${i}, keyof typeof True${i}] = ['' as keyof typeof True${i}, '' as keyof typeof Told${i}];`,
      ].join('\n');
    }),
  );
  t.true(names > 150, 'hardly a name was found');
  t.is(await compile(t, { 'same.ts': `${lines.join('\n')}\n` }, PACKAGES), '');
});

test('a plugin can export hooks, tokens and errors of its own, with declarations', async (t) => {
  const contract = [
    "import { after, choose, defineErrors, draft, event, extensionPoint, filter, guard, int, type Schema, shape, text, token } from '@weir-panel/weir/kernel';",
    'export interface Api {\n  grow(): void;\n}',
    "export const Garden = token<Api>('acme', 'Garden');",
    "export const Beds = extensionPoint<Api>('acme', 'Beds');",
    "export const beforeGrow = guard<{ readonly x: number }>('acme/beforeGrow');",
    "export const composeBed = draft<string, number>('acme/composeBed', text());",
    "export const height = filter<number, string>('acme/height', int());",
    "export const pick = choose<string, number>('acme/pick', int());",
    "export const afterGrow = after<string>('acme/afterGrow');",
    "export const grown = event<string>('acme/grown');",
    "export const errors = defineErrors('acme', { DRY: [409, 'too dry'] });",
    'export const Bed: Schema<{ name: string }> = shape({ name: text() });',
  ].join('\n');
  t.is(
    await compile(t, { 'contract.ts': contract }, ['@weir-panel/weir', '@types'], {
      declaration: true,
      noEmit: false,
      outDir: 'dist',
    }),
    '',
  );
});

test('nothing private is told', async (t) => {
  const text = await readFile(new URL('docs/reference/kernel.d.ts', await sourceRoot()), 'utf8');
  t.notRegex(text, /#private|^\s*(?:private|protected) (?!constructor\(\);)/m);
  t.notRegex(text, /import\("\./);
});

test('declarations are read as the compiler writes them', (t) => {
  const { declarations, exported, imported } = parseDeclarations(
    'plugins/a/contract',
    [
      `import type { Tx } from '../../kernel/index.js';`,
      `export { errors as aErrors } from './errors.js';`,
      '/** One of two. */',
      'export type Part = ',
      '/** the first */',
      '{',
      '    readonly a: Tx;',
      '}',
      '/** the second, which has a comment of its own */',
      ' | {',
      '    readonly b: number;',
      '} | {',
      '    readonly c: number;',
      '};',
      'declare const inner: unique symbol;',
      `export declare const x: import("../../kernel/index.js").Token<Part>;`,
      '',
    ].join('\n'),
  );
  t.deepEqual(
    declarations.map(({ name, kind, doc }) => [name, kind, doc]),
    [
      ['Part', 'type', '/** One of two. */'],
      ['inner', 'const', ''],
      ['x', 'const', ''],
    ],
  );
  const [part] = declarations;
  t.deepEqual(
    ['a: Tx', 'b: number', 'c: number'].filter((arm) => !part?.text.includes(arm)),
    [],
    'all of the union',
  );
  t.deepEqual([...exported.keys()], ['aErrors', 'Part', 'x']);
  t.deepEqual(imported.get('Tx'), { file: 'kernel/index', name: 'Tx' });
});

test('names that refer to something are told from those that do not', (t) => {
  const text =
    'interface A<P extends Base> {\n    readonly key?: Row<P>;\n    write<T>(work: (tx: Tx) => Other.Part<T>): import("./x.js").Y;\n    /** Not this */\n    as: P extends (infer Q) ? Q : "Nor"; \n}';
  t.deepEqual(
    [...new Set(references(text).map(({ name }) => name))],
    ['P', 'Base', 'Row', 'T', 'Tx', 'Other', 'Y', 'Q'],
  );
});

test('of a class only what others may use is left', (t) => {
  const text =
    'class A extends B implements C {\n    #private;\n    private constructor();\n    /** Hidden. */\n    private x;\n    static make(): A;\n    /** Shown. */\n    readonly name = "A";\n    get size(): number;\n    [Symbol.asyncDispose](): Promise<{\n        a: 1;\n    }>;\n}';
  t.is(
    publicClass(text, 'class'),
    'class A extends B implements C {\n    private constructor();\n    static make(): A;\n    /** Shown. */\n    readonly name = "A";\n    get size(): number;\n    [Symbol.asyncDispose](): Promise<{\n        a: 1;\n    }>;\n}',
  );
  t.is(
    publicClass(
      'class A implements C {\n    constructor(a: {\n        b: 1;\n    });\n    readonly name = "A";\n    get size(): number;\n}',
      'interface',
    ),
    'interface A extends C {\n    readonly name: "A";\n    readonly size: number;\n}',
  );
});

test('hooks are told with kind, payload and comment', (t) => {
  const entry = {
    file: 'plugins/a/contract',
    name: 'grown',
    shown: 'whole',
    texts: ['const grown: Event<{\n    readonly x: number;\n}>;'],
    declarations: [{ name: 'grown', kind: 'const', doc: '/** After a plant\n * has grown. */', text: '' }],
  } as const;
  t.deepEqual(
    momentsOf({
      entries: [entry, { ...entry, shown: undefined }, { ...entry, texts: ['const size: number;'] }],
    }),
    [
      {
        name: 'grown',
        kind: 'Event',
        text: 'grown: Event<{\n  readonly x: number;\n}>;',
        about: 'After a plant\nhas grown.',
      },
    ],
  );
});
