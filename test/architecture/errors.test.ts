// Every error that is declared is thrown somewhere, under a code that nothing else has.
import test from 'ava';
import { type Source, sourceOf, sources } from './source.js';

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
    for (const [, owner, catalogue = ''] of code.matchAll(/=\s*defineErrors\(\s*'([^']+)',\s*\{([\s\S]*?)\}\s*\)/g)) {
      const names = [...catalogue.matchAll(/(?:^|[{,\s])([A-Z][A-Z0-9_]*):\s*\[\s*(\d{3})/g)].map(([, name = '']) => name);
      if (names.length === 0) complaints.push(`${path}: the catalogue of ${owner} cannot be read; write its entries as NAME: [status, 'sentence']`);
      declared.push(...names.map((name) => ({ path, name, code: `${owner?.toUpperCase().replaceAll('-', '_')}_${name}` })));
    }
  }
  return { declared, complaints };
}

function unused(all: readonly Source[]): string[] {
  const { declared, complaints } = declaredErrors(all);
  const inUse = all.filter(({ isTest }) => !isTest);
  // Routes list errors that others throw; elsewhere a mention is a use, for a catalogue's entry may be handed on.
  const isUsed = ({ code }: Source, name: string) => new RegExp(`\\.${name}\\b${/\broute\(/.test(code) ? '\\s*\\(' : ''}`).test(code);
  const dead = declared.filter(({ name }) => !inUse.some((file) => isUsed(file, name)));
  return [...complaints, ...dead.map(({ path, code }) => `${path} declares ${code}, which nobody throws; throw it or take it out`)];
}

function twice(all: readonly Source[]): string[] {
  const { declared } = declaredErrors(all);
  return declared
    .filter(({ code }, i) => declared.findIndex((other) => other.code === code) !== i)
    .map(({ path, code }) => `${path} declares ${code}, which is declared already; codes name one error each`);
}

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
  t.is(unused([catalogue, sourceOf('plugins/a-b/routes.ts', 'throw errors.GONE(); route({ errors: [errors.TAKEN] });')]).length, 1);
  t.is(unused([catalogue, sourceOf('plugins/a-b/x.ts', 'const refusal = full ? errors.GONE : errors.TAKEN;')]).length, 0);
  t.is(
    unused([catalogue, sourceOf('plugins/a-b/x.ts', 'throw errors.GONE(); // errors.TAKEN()'), sourceOf('plugins/a-b/test/x.test.ts', 'errors.TAKEN()')])
      .length,
    1,
  );
  t.is(unused([catalogue, sourceOf('plugins/a-b/x.ts', 'throw errors.GONE(); throw theirErrors.TAKEN(text);')]).length, 0);
  t.is(twice([catalogue, { ...catalogue, path: 'plugins/a-b/more.ts' }]).length, 2);
  t.is(unused([sourceOf('plugins/a/errors.ts', "export const errors = defineErrors('a', { [name]: entry });")]).length, 1);
});
