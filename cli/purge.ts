// `weir purge`: drops for good what a plugin that is off has left in the database.
import { bool, optional, word } from '../schema/shape.js';
import { isNothing, type Kept } from '../panel/kept.js';
import { purge } from '../panel/purge.js';
import { askPanel } from '../plugins/command-line/channel.js';
import { table } from '../plugins/command-line/help.js';
import { didYouMean } from '../schema/suggest.js';
import { own } from './own.js';

/** Names of the plugins in the panel that runs on this folder; undefined when none answers. */
async function runningIn(directory: string): Promise<readonly string[] | undefined> {
  let said = '';
  const exit = await askPanel(directory, ['plugins', '--json'], {
    say: (line) => (said += line),
    complain: () => undefined,
  });
  if (exit === undefined) return undefined;
  if (exit !== 0) throw new Error('the panel that runs does not tell which plugins it has; stop it first');
  return (JSON.parse(said) as { name: string }[]).map(({ name }) => name);
}

const inventory = ({ tables, settings, migrations }: Kept): string =>
  table([
    ...tables.map(({ name, type, rows }): [string, string] => [
      `${type} ${name}`,
      rows === 1 ? '1 row' : `${rows} rows`,
    ]),
    ...settings.map((name): [string, string] => [`setting ${name}`, '']),
    ...migrations.map((name): [string, string] => [`migration ${name}`, 'its entry in the ledger']),
  ]);

export const purgeCommand = own({
  name: 'purge',
  about:
    'Drops for good what a plugin that is off keeps in the database: its tables, its settings, the ledger of its migrations. Without --yes it only tells.',
  operand: 'plugin',
  options: {
    plugin: word().description('its name'),
    yes: optional(bool().description('drop it; a database in a file is copied to backups/ before')),
  },
  example: 'weir purge acme-tally --yes',
  act: async ({ env, directory, options: { plugin, yes = false }, say, complain }) => {
    const { kept, copy } = await purge({ name: plugin, env, yes, running: () => runningIn(directory) });
    if (isNothing(kept)) {
      say(`the database keeps nothing of a plugin ${plugin}${didYouMean(plugin, kept.others)}`);
      return 0;
    }
    say(`${yes ? 'dropped' : `of the plugin ${plugin} would go`}:\n${inventory(kept)}`);
    if (!yes) {
      complain(`nothing was changed; weir purge ${plugin} --yes drops this for good`);
      return 1;
    }
    if (copy !== undefined) say(`a copy of the database as it was: ${copy}; delete it when you are sure`);
    return 0;
  },
});
