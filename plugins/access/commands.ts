import { command, type Command, optional } from '../../kernel/index.js';
import { panelSettings, type SettingsApi } from '../settings/contract.js';
import type { Credentials } from './credentials.js';
import { printableWord } from './printable-word.js';
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
      'Sets a new name and password for the admin, closes all sessions, turns off two-factor and clears login blocks.',
    options: {
      username: optional(
        printableWord().trim().max(255).description('name of the admin; generated if omitted'),
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
      if (names.length > 0)
        say(`API tokens still work: ${names.join(', ')}; delete those that you do not know.`);
    },
  }),
];
