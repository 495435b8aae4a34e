// Short programs of the system: whatever they do, the call ends, and says why.
import test from 'ava';
import { runCommand, searchPath } from '../contract.js';

const MEBI = 1024 * 1024;
const node = (script: string, input?: string, limit = 60_000, most?: number) =>
  runCommand(process.execPath, ['-e', script], input, limit, most);
const message = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it succeeds',
    (error: Error) => error.message,
  );

test('resolves with the output of what it was given, and passes on no secret', async (t) => {
  t.is(await node('process.stdin.pipe(process.stdout)', 'é\n'), 'é\n');
  process.env['WEIR_TEST_SECRET'] = 'secret';
  t.teardown(() => delete process.env['WEIR_TEST_SECRET']);
  const names = JSON.parse(await node('console.log(JSON.stringify(process.env))')) as Record<string, string>;
  t.is(names['WEIR_TEST_SECRET'], undefined);
  t.is(names['LANG'], 'C');
  t.is(names['PATH'], searchPath());
  t.true(searchPath().startsWith('/usr/sbin:'), 'programs of the system come first');
});

test('rejects with what the program says, its exit code, or that it is missing', async (t) => {
  t.regex(await message(node('console.error("broken\\nmore"); process.exit(3)')), /failed: broken$/);
  t.regex(await message(node('process.exit(3)')), /failed: exit code 3$/);
  t.is((await message(node('console.error("x".repeat(9000)); process.exit(1)'))).length < 500, true);
  t.is(await message(runCommand('weir-no-such-program', [])), 'the program weir-no-such-program is missing');
});

test('a program that writes without an end is killed, also if it then succeeds', async (t) => {
  const flood = (stream: string) => `process.${stream}.write("x".repeat(${2 * MEBI}))`;
  for (const stream of ['stdout', 'stderr'])
    t.regex(await message(node(flood(stream))), /failed: it writes too much$/, stream);
  t.is((await node(flood('stdout'), '', 60_000, 3 * MEBI)).length, 2 * MEBI, 'the limit can be raised');
});

test('a program that hangs is killed, with a child that holds its output open', async (t) => {
  const began = performance.now();
  t.regex(await message(node('setInterval(() => {}, 1000)', '', 300)), /it did not end within 0\.3 s$/);
  const child = 'setTimeout(() => {}, 20000)';
  const parent = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' }); process.stdin.pause()`;
  t.regex(await message(node(parent, 'x'.repeat(MEBI), 1500)), /it did not end within 1\.5 s$/);
  t.true(performance.now() - began < 15_000);
});

test('a program that does not read its input is not an error', async (t) => {
  t.is(await node('process.stdin.destroy(); console.log("done")', 'x'.repeat(MEBI)), 'done\n');
});
