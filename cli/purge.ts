// `weir purge`: permanently deletes the data of a disabled plugin from the database.
import { bool, optional, word } from '../schema/shape.js';
import { isEmpty, type PluginData } from '../panel/plugin-data.js';
import { purge } from '../panel/purge.js';
import { askPanel } from '../plugins/command-line/channel.js';
import { table } from '../plugins/command-line/help.js';
import { didYouMean } from '../schema/suggest.js';
import { programCommand } from './program-command.js';

/** Names of the plugins in the panel that runs on this folder; undefined when none answers. */
async function runningIn(directory: string): Promise<readonly string[] | undefined> {
  let said = '';
  const exit = await askPanel(directory, ['plugins', '--json'], {
    say: (line) => (said += line),
    complain: () => undefined,
  });
  if (exit === undefined) return undefined;
  if (exit !== 0) throw new Error('the running panel cannot list its plugins; stop it first');
  return (JSON.parse(said) as { name: string }[]).map(({ name }) => name);
}

const inventory = ({ tables, settings, migrations }: PluginData): string =>
  table([
    ...tables.map(({ name, type, rows }): [string, string] => [
      `${type} ${name}`,
      rows === 1 ? '1 row' : `${rows} rows`,
    ]),
    ...settings.map((name): [string, string] => [`setting ${name}`, '']),
    ...migrations.map((name): [string, string] => [
      `migration ${name}`,
      'its entry in the migration history',
    ]),
  ]);

export const purgeCommand = programCommand({
  name: 'purge',
  about:
    'Permanently deletes the data of a disabled plugin from the database: its tables, its settings, its migration history. Without --yes, only lists them.',
  operand: 'plugin',
  options: {
    plugin: word().description('its name'),
    yes: optional(bool().description('delete the data; a SQLite database is copied to backups/ first')),
  },
  example: 'weir purge acme-tally --yes',
  act: async ({ env, directory, options: { plugin, yes = false }, say, complain }) => {
    const { data, copy } = await purge({ name: plugin, env, yes, running: () => runningIn(directory) });
    if (isEmpty(data)) {
      say(`the database has no data of a plugin ${plugin}${didYouMean(plugin, data.others)}`);
      return 0;
    }
    say(`${yes ? 'deleted' : `data of the plugin ${plugin}`}:\n${inventory(data)}`);
    if (!yes) {
      complain(`nothing was changed; weir purge ${plugin} --yes deletes this permanently`);
      return 1;
    }
    if (copy !== undefined) say(`backup of the database: ${copy}; delete it when you no longer need it`);
    return 0;
  },
});
