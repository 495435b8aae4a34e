import { command, type Command, optional } from '../../kernel/index.js';
import { panelSettings, type SettingsApi } from '../settings/contract.js';
import type { Credentials } from './credentials.js';
import { plainWord } from './plain-word.js';
import type { Tokens } from './tokens.js';

export const commands = ({
  credentials,
  tokens,
  allSettings,
}: {
  credentials: Credentials;
  tokens: Tokens;
  allSettings: SettingsApi;
}): Command[] => [
  command({
    name: 'admin reset',
    about:
      'Gives the admin a new name and password, ends all sessions, switches two-factor off and lifts the blocks of failed logins.',
    options: {
      username: optional(
        plainWord().trim().max(255).description('name of the admin; one is made up when it is left out'),
      ),
    },
    example: 'weir admin reset --username ada',
    run: async ({ options, who, say }) => {
      const { username, password } = await credentials.reset(options.username, who);
      say('This is shown once:');
      say(`  user name  ${username}`);
      say(`  password   ${password}`);
      say(`  base path  ${allSettings.read(panelSettings).webBasePath}`);
      const names = tokens
        .list()
        .filter(({ enabled }) => enabled)
        .map(({ name }) => name);
      if (names.length > 0) say(`API tokens go on: ${names.join(', ')}; delete those that you do not know.`);
    },
  }),
];
