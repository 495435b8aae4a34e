// Plugins that are not essential, left out by the config file, some at once: what they served is gone, and the rest is as it
// was. `left-out-each.full.test.ts` leaves out one at a time.
// Runs alone: what it imports waits for the list of plugins, and ava takes no test that is declared after a wait.
import test from 'ava';
import { PluginError } from '../../kernel/plugin/error.js';
import { bootPanel } from '../../panel/boot.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { environmentOf } from '../harness/api.js';
import {
  all,
  folderWith,
  goneWith,
  NO_CORE,
  optional,
  proveWithout,
  type Whole,
  wholePanel,
} from './without-plugins.js';

const AT_ONCE = 6;

let whole: Whole;
test.before(async (t) => {
  whole = await wholePanel(t);
});

// Neighbours in the list have little to do with each other.
for (let at = 0; at < optional.length; at += AT_ONCE) {
  const names = optional.slice(at, at + AT_ONCE);
  test.serial(`without ${names.join(', ')} the rest works as before`, (t) => proveWithout(t, names, whole));
}

for (const name of optional) {
  const gone = goneWith([name]);
  if (gone.length > 1)
    test.serial(
      `${name} cannot be disabled while the file itself enables ${gone.slice(1).join(' or ')}`,
      async (t) => {
        for (const user of gone.slice(1)) {
          const env = { ...environmentOf(await folderWith(t, { [name]: false, [user]: true })), ...NO_CORE };
          const error = await t.throwsAsync(
            bootPanel({
              ...(await choosePlugins(env, await readConfigFile(env))),
              env,
              write: () => undefined,
            }),
            {
              instanceOf: PluginError,
            },
          );
          t.regex(
            error.message,
            new RegExp(
              // The user itself, or what it needs and misses it.
              `plugin (${gone.slice(1).join('|')}) needs \\S+, but the plugin ${name} is not enabled; enable it or disable \\1`,
            ),
          );
        }
      },
    );
}

test('none of those that are essential can be left out', async (t) => {
  for (const { name } of all.filter(({ essential }) => essential)) {
    const env = { ...environmentOf(await folderWith(t, { [name]: false })), ...NO_CORE };
    const { file } = await choosePlugins(env, await readConfigFile(env));
    t.deepEqual(file.problems, [
      `plugins.${name} in ${file.path}: the panel cannot start without the plugin ${name}; set it to true or remove the entry`,
    ]);
  }
});
