// How the end of a short command is read.
import test from 'ava';
import { CoreRefused, CoreUnreachable } from '../../driver.js';
import { runCommand } from '../command.js';

/** Says this on standard error and exits with a failure. */
const fails = (words: string) =>
  runCommand({
    binary: process.execPath,
    directory: '.',
    args: ['-e', `process.stderr.write(${JSON.stringify(words)}); process.exit(1)`],
    timeout: 20_000,
  });

test('a full disk is not a refusal of the config', async (t) => {
  const error = await t.throwsAsync(
    fails('failed to write proto file: write t.pb: no space left on device'),
    {
      instanceOf: CoreUnreachable,
    },
  );
  t.regex(error.message, /cannot write: no space left on device/);
  await t.throwsAsync(fails('Failed to start: main: failed to load config'), { instanceOf: CoreRefused });
});
