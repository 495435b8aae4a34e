// Checks of other plugins on parts of the config: the first reason counts, and a broken check harms nobody.
import test from 'ava';
import type { PluginContext } from '../../../kernel/index.js';
import type { PartCheck } from '../contract.js';
import { PartProblems } from '../config/part-problems.js';

function problems(...checks: PartCheck['problem'][]) {
  const faults: string[] = [];
  const contributions = (() =>
    checks.map((problem) => ({
      plugin: 'test',
      value: { problem },
      fault: (where: string, error: Error) => void faults.push(`${where}: ${error.message}`),
    }))) as unknown as PluginContext['contributions'];
  return { of: () => new PartProblems({ contributions }).of({ rule: {} }), faults };
}

test('the first reason counts, and no reason lets the part in', async (t) => {
  t.is(await problems().of(), undefined);
  t.is(
    await problems(
      () => undefined,
      async () => 'second',
      () => 'third',
    ).of(),
    'second',
  );
});

test('a check that throws, hangs or returns something else is a fault and no reason', async (t) => {
  const broken = problems(
    () => {
      throw new Error('broken');
    },
    (() => 7) as unknown as PartCheck['problem'],
    () => new Promise(() => undefined),
    () => 'a reason',
  );
  t.is(await broken.of(), 'a reason');
  t.deepEqual(
    broken.faults.map((fault) => fault.replace(/^.*config: /, '')),
    ['broken', 'it returned number instead of a text or nothing', 'it took longer than 5 s'],
  );
});
