// Every error that is declared is thrown somewhere, under a code that nothing else has; and every one that is thrown is declared, where people find it.
import test from 'ava';
import { filesOf, pluginOf, type Source, sourceOf, sources } from './source.js';

interface Declared {
  readonly path: string;
  readonly name: string;
  readonly code: string;
}

/** The errors of all catalogues; a catalogue that is no plain text is a complaint. */
function declaredErrors(all: readonly Source[]): { declared: Declared[]; complaints: string[] } {
  const declared: Declared[] = [];
  const complaints: string[] = [];
  for (const { path, code, isTest } of all) {
    if (isTest) continue;
    for (const [, owner, catalogue = ''] of code.matchAll(
      /=\s*defineErrors\(\s*'([^']+)',\s*\{([\s\S]*?)\}\s*\)/g,
    )) {
      const names = [...catalogue.matchAll(/(?:^|[{,\s])([A-Z][A-Z0-9_]*):\s*\[\s*(\d{3})/g)].map(
        ([, name = '']) => name,
      );
      if (names.length === 0)
        complaints.push(
          `${path}: the catalogue of ${owner} cannot be read; write its entries as NAME: [status, 'sentence']`,
        );
      declared.push(
        ...names.map((name) => ({
          path,
          name,
          code: `${owner?.toUpperCase().replaceAll('-', '_')}_${name}`,
        })),
      );
    }
  }
  return { declared, complaints };
}

function unused(all: readonly Source[]): string[] {
  const { declared, complaints } = declaredErrors(all);
  const inUse = all.filter(({ isTest }) => !isTest);
  // Routes list errors that others throw; elsewhere a mention is a use, for a catalogue's entry may be handed on.
  const isUsed = ({ code }: Source, name: string) =>
    new RegExp(`\\.${name}\\b${/\broute\(/.test(code) ? '\\s*\\(' : ''}`).test(code);
  const dead = declared.filter(({ name }) => !inUse.some((file) => isUsed(file, name)));
  return [
    ...complaints,
    ...dead.map(({ path, code }) => `${path} declares ${code}, which nobody throws; throw it or take it out`),
  ];
}

function twice(all: readonly Source[]): string[] {
  const { declared } = declaredErrors(all);
  return declared
    .filter(({ code }, i) => declared.findIndex((other) => other.code === code) !== i)
    .map(
      ({ path, code }) => `${path} declares ${code}, which is declared already; codes name one error each`,
    );
}

/** Where a plugin's catalogue lies, and the kernel's. */
const CATALOGUE = /^(?:plugins\/[^/]+|kernel\/errors)\/errors\.ts$/;

/** Errors with a code that no catalogue has, and catalogues that nobody finds. */
function undeclared({ path, code, isTest }: Source): string[] {
  if (isTest || path === 'kernel/errors/errors.ts') return [];
  const said: string[] = [];
  if (/\bnew PanelError\(/.test(code))
    said.push(`${path} makes an error of its own; declare it with defineErrors, in errors.ts`);
  if (/\bnew Refusal\([^;]*\bcode:/.test(code))
    said.push(`${path} makes up the code of a refusal; declare it with defineErrors, in errors.ts`);
  const [, owner] = /\bdefineErrors\(\s*'([^']+)'/.exec(code) ?? [];
  if (owner !== undefined && !CATALOGUE.test(path))
    said.push(`${path} holds the catalogue of ${owner}; it belongs into errors.ts of that plugin`);
  if (owner !== undefined && CATALOGUE.test(path) && pluginOf(path) !== owner)
    said.push(`${path} holds the catalogue of ${owner}; a plugin throws its own errors`);
  return said;
}

/** Codes that a page names and nobody declares; those of the kernel and of plugins begin with their owner. */
function unknownCodes(
  page: { readonly path: string; readonly text: string },
  declared: readonly Declared[],
): string[] {
  const owners = new Set(declared.map(({ name, code }) => code.slice(0, -name.length)));
  const named = [...page.text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, code = '']) => code);
  return named
    .filter(
      (code) =>
        [...owners].some((owner) => code.startsWith(owner)) && !declared.some((one) => one.code === code),
    )
    .map((code) => `${page.path} names the error ${code}, which nobody declares`);
}

test('every error that is thrown is declared in the catalogue of its plugin', async (t) => {
  t.deepEqual((await sources()).flatMap(undeclared), []);
});

test('docs/reference/errors.md has every declared error, and no page has another', async (t) => {
  const { declared } = declaredErrors(await sources());
  const pages = await filesOf('.md');
  const reference = pages.find(({ path }) => path === 'docs/reference/errors.md')?.text ?? '';
  t.deepEqual(
    declared.map(({ code }) => code).filter((code) => !reference.includes(`| \`${code}\` |`)),
    [],
  );
  t.deepEqual(
    pages.flatMap((page) => unknownCodes(page, declared)),
    [],
  );
});

test('every declared error is thrown', async (t) => {
  const all = await sources();
  t.true(declaredErrors(all).declared.length > 25, 'hardly an error was recognised');
  t.deepEqual(unused(all), []);
});

test('every code names one error', async (t) => {
  t.deepEqual(twice(await sources()), []);
});

test('the rules see what they forbid', (t) => {
  const catalogue = sourceOf(
    'plugins/a-b/errors.ts',
    "export const errors = defineErrors('a-b', {\n  GONE: [404, 'gone'],\n  TAKEN: [409, 'taken, {really}'],\n});",
  );
  t.deepEqual(
    declaredErrors([catalogue]).declared.map(({ code }) => code),
    ['A_B_GONE', 'A_B_TAKEN'],
  );
  t.is(
    unused([
      catalogue,
      sourceOf('plugins/a-b/routes.ts', 'throw errors.GONE(); route({ errors: [errors.TAKEN] });'),
    ]).length,
    1,
  );
  t.is(
    unused([catalogue, sourceOf('plugins/a-b/x.ts', 'const refusal = full ? errors.GONE : errors.TAKEN;')])
      .length,
    0,
  );
  t.is(
    unused([
      catalogue,
      sourceOf('plugins/a-b/x.ts', 'throw errors.GONE(); // errors.TAKEN()'),
      sourceOf('plugins/a-b/test/x.test.ts', 'errors.TAKEN()'),
    ]).length,
    1,
  );
  t.is(
    unused([catalogue, sourceOf('plugins/a-b/x.ts', 'throw errors.GONE(); throw theirErrors.TAKEN(text);')])
      .length,
    0,
  );
  for (const text of [
    "throw new PanelError('X', 400, 'x');",
    "throw new Refusal('no', { path: 'a', code: 'A_B_C' });",
    "const own = defineErrors('b', { X: [400, 'x'] });",
  ])
    t.is(undeclared(sourceOf('plugins/b/service.ts', text)).length, 1, text);
  t.is(undeclared({ ...catalogue, path: 'plugins/b/errors.ts' }).length, 1);
  t.is(
    undeclared(catalogue).length +
      undeclared(sourceOf('plugins/b/service.ts', "throw new Refusal('no', { path: 'a' });")).length,
    0,
  );
  const page = { path: 'README.md', text: '`A_B_GONE`, `A_B_LOST`, `WEIR_A_B`' };
  t.deepEqual(unknownCodes(page, declaredErrors([catalogue]).declared), [
    'README.md names the error A_B_LOST, which nobody declares',
  ]);
  t.is(twice([catalogue, { ...catalogue, path: 'plugins/a-b/more.ts' }]).length, 2);
  t.is(
    unused([sourceOf('plugins/a/errors.ts', "export const errors = defineErrors('a', { [name]: entry });")])
      .length,
    1,
  );
});
