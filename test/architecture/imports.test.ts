// Who may import whom: arrows point down, at contracts, at the kernel's door and at the libraries beneath it (schema, net, timing, file, tables), and never in a circle.
import test from 'ava';
import { pluginOf, type Source, sourceOf, sources } from './source.js';

/** `sources` leaves these out: they quote what they forbid. */
const RULES = 'test/architecture/';
const DOOR = 'kernel/index.ts';

/** Imports that pass by a door. */
function trespasses({ path, imports, isTest }: Source): string[] {
  if (isTest) return [];
  const own = pluginOf(path);
  const isPlugin = own !== undefined || path.startsWith('examples/');
  return imports.flatMap((target) => {
    const other = pluginOf(target);
    if (/^test\/|\/test\/|\.test\.ts$/.test(target))
      return [`${path} imports ${target}: sources do not need tests`];
    if (path.startsWith('schema/') && !target.startsWith('schema/'))
      return [`${path} imports ${target}: schema/ is a library that knows nothing of what uses it`];
    if (path.startsWith('net/') && !/^(?:net|schema)\//.test(target))
      return [`${path} imports ${target}: net/ is a library that knows nothing of what uses it`];
    if (path.startsWith('timing/') && !target.startsWith('timing/'))
      return [`${path} imports ${target}: timing/ is a library that knows nothing of what uses it`];
    if (path.startsWith('file/') && !target.startsWith('file/'))
      return [`${path} imports ${target}: file/ is a library that knows nothing of what uses it`];
    if (path.startsWith('tables/') && !/^(?:tables|schema)\//.test(target))
      return [`${path} imports ${target}: tables/ is a library that knows nothing of what uses it`];
    if (path.startsWith('kernel/') && !/^(?:kernel|schema|net|timing|file|tables)\//.test(target))
      return [`${path} imports ${target}: the kernel knows no plugin; plugins are found by name`];
    if (path.startsWith('drivers/') && !/^(?:drivers|kernel|schema|net|timing|file|tables)\//.test(target))
      return [`${path} imports ${target}: a driver knows the kernel and the libraries only`];
    if (path.startsWith('panel/') && other !== undefined && target !== `plugins/${other}/contract.ts`)
      return [
        `${path} imports ${target}: the panel finds plugins by name and imports only their contract.ts`,
      ];
    if (
      path.startsWith('cli/') &&
      other !== undefined &&
      other !== 'command-line' &&
      target !== `plugins/${other}/contract.ts`
    )
      return [`${path} imports ${target}: of plugins the command line imports contract.ts and command-line`];
    if (isPlugin && target.startsWith('panel/'))
      return [`${path} imports ${target}: plugins know nothing of the program around them`];
    if (isPlugin && /^(?:kernel|schema|net|timing|file|tables)\//.test(target) && target !== DOOR)
      return [
        `${path} imports ${target}: plugins see of kernel, schema and net only ${DOOR}; what is missing there is exported there`,
      ];
    if (isPlugin && other !== undefined && other !== own && target !== `plugins/${other}/contract.ts`)
      return [
        `${path} imports ${target}: of another plugin only plugins/${other}/contract.ts may be imported`,
      ];
    return [];
  });
}

/** Plugins that need each other, every circle once, by its names. */
function circles(all: readonly Source[]): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports, isTest } of all) {
    const from = pluginOf(path);
    if (from === undefined || isTest) continue;
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    for (const to of imports.map(pluginOf)) if (to !== undefined && to !== from) targets.add(to);
  }
  const found = new Set<string>();
  const done = new Set<string>();
  const follow = (plugin: string, trail: readonly string[]): void => {
    const start = trail.indexOf(plugin);
    if (start >= 0) {
      found.add([...trail.slice(start), plugin].join(' → '));
      return;
    }
    if (done.has(plugin)) return;
    for (const next of arrows.get(plugin) ?? []) follow(next, [...trail, plugin]);
    done.add(plugin);
  };
  for (const plugin of [...arrows.keys()].sort()) follow(plugin, []);
  return [...found].map(
    (circle) =>
      `${circle}: plugins must not need each other; let one offer a hook or an extension point that the other uses`,
  );
}

test('plugins import contracts and the door of the kernel, the kernel imports no plugin, schema imports nothing, net only schema, sources import no test', async (t) => {
  t.deepEqual((await sources()).flatMap(trespasses), []);
});

test('no two plugins need each other', async (t) => {
  t.deepEqual(circles(await sources()), []);
});

test('every import of a file is of a file that is there', async (t) => {
  const all = await sources();
  const paths = new Set(all.map(({ path }) => path));
  t.true(all.flatMap(({ imports }) => imports).length > 500, 'hardly an import was recognised');
  t.deepEqual(
    all.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.endsWith('.ts') && !paths.has(target) && !target.startsWith(RULES))
        .map((target) => `${path} imports ${target}`),
    ),
    [],
  );
});

/** Libraries that most panels never need, or seldom; together they would take 50 MiB of memory from the start. */
const SELDOM_NEEDED =
  /^import (?!type\b)[^;]*? from '(@peculiar\/x509|@noble\/post-quantum[^']*|@aws-sdk\/[^']*|acme-client|age-encryption|grammy|jsondiffpatch[^']*|nodemailer[^']*|prom-client)'/gm;

test('libraries that are seldom needed are loaded when they are needed', async (t) => {
  const early = (await sources())
    .filter(({ isTest }) => !isTest)
    .flatMap(({ path, code }) => [...code.matchAll(SELDOM_NEEDED)].map(([, name]) => `${path}: ${name}`));
  t.deepEqual(early, [], 'import them inside of the function that needs them: `await import(…)`');
  t.is([..."import { Registry } from 'prom-client';".matchAll(SELDOM_NEEDED)].length, 1);
});

test('the rules see what they forbid', (t) => {
  const wrong = (path: string, target: string) =>
    trespasses(sourceOf(path, `import { x } from '${target}';`)).length;
  t.is(wrong('plugins/a/index.ts', '../b/store.js'), 1);
  t.is(wrong('plugins/a/index.ts', '../b/contract.js'), 0);
  t.is(wrong('plugins/a/deep/file.ts', '../../b/deep/contract.js'), 1);
  t.is(wrong('plugins/a/index.ts', '../../kernel/http/route.js'), 1);
  t.is(wrong('plugins/a/index.ts', '../../kernel/index.js'), 0);
  t.is(wrong('examples/a/index.ts', '../../kernel/kernel.js'), 1);
  t.is(wrong('kernel/kernel.ts', '../plugins/a/contract.js'), 1);
  t.is(wrong('kernel/http/pipeline.ts', '../../schema/json.js'), 0);
  t.is(wrong('kernel/http/pipeline.ts', '../../net/body.js'), 0);
  t.is(wrong('drivers/sqlite/index.ts', '../../kernel/database/connect.js'), 0);
  t.is(wrong('drivers/sqlite/index.ts', '../../panel/log.js'), 1);
  t.is(wrong('panel/program.ts', '../plugins/system/contract.js'), 0);
  t.is(wrong('panel/program.ts', '../plugins/system/plugins.js'), 1);
  t.is(wrong('cli/check.ts', '../plugins/command-line/run.js'), 0);
  t.is(wrong('cli/check.ts', '../plugins/system/plugins.js'), 1);
  t.is(wrong('net/body.ts', '../schema/json.js'), 0);
  t.is(wrong('net/body.ts', '../kernel/errors/errors.js'), 1);
  t.is(wrong('net/body.ts', '../plugins/a/contract.js'), 1);
  t.is(wrong('schema/json.ts', '../net/body.js'), 1);
  t.is(wrong('tables/fields.ts', '../kernel/index.js'), 1);
  t.is(wrong('tables/fields.ts', '../schema/shape.js'), 0);
  t.is(wrong('plugins/a/index.ts', '../../net/host-name.js'), 1);
  t.is(wrong('plugins/a/index.ts', '../../schema/shape.js'), 1);
  t.is(wrong('schema/hidden.ts', '../kernel/errors/errors.js'), 1);
  t.is(wrong('schema/hidden.ts', '../kernel/index.js'), 1);
  t.is(wrong('schema/shape.ts', '../plugins/a/contract.js'), 1);
  t.is(wrong('schema/shape.ts', './depth.js'), 0);
  t.is(wrong('timing/calendar.ts', '../kernel/index.js'), 1);
  t.is(wrong('timing/calendar.ts', '../schema/shape.js'), 1);
  t.is(wrong('kernel/jobs/schedule.ts', '../../timing/calendar.js'), 0);
  t.is(wrong('plugins/a/index.ts', '../../timing/calendar.js'), 1);
  t.is(wrong('plugins/a/index.ts', '../../test/harness/index.js'), 1);
  t.is(wrong('plugins/a/test/a.test.ts', '../../../kernel/kernel.js'), 0);
  const chain = [
    sourceOf('plugins/a/index.ts', "import { b } from '../b/contract.js';"),
    sourceOf('plugins/b/index.ts', "import type { c } from '../c/contract.js';"),
    sourceOf('plugins/c/x.ts', "await import('../d/contract.js');"),
  ];
  t.deepEqual(circles(chain), []);
  t.regex(
    circles([...chain, sourceOf('plugins/c/contract.ts', "export type { A } from '../a/contract.js';")])[0] ??
      '',
    /^a → b → c → a:/,
  );
});
