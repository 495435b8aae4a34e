import { authenticate, definePlugin, optional, Sessions, singleton, tap, variable, word } from '../../kernel/index.js';
import { panelSettings, Settings } from '../settings/contract.js';
import { Admins } from './admins.js';
import { errors } from './errors.js';
import { createFirstAdmin } from './first-login.js';
import { LoginLimits } from './login-limits.js';
import { Login } from './login.js';
import { routes } from './routes.js';
import { migrations, tables } from './tables.js';
import { afterTokensSave, Tokens } from './tokens.js';

export default definePlugin({
  name: 'access',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Admins, their logins with limits against guessing, and API tokens for programs.',
  uses: { sessions: Sessions, settings: Settings },
  config: {
    username: variable('WEIR_ADMIN_USERNAME', optional(word().max(255)), 'name of the first admin; used when there is none yet'),
    password: variable('WEIR_ADMIN_PASSWORD', optional(word().min(8).max(1024)), 'password of the first admin; used when there is none yet'),
  },
  tables,
  migrations,
  services: { admins: singleton(Admins), tokens: singleton(Tokens), limits: singleton(LoginLimits), login: singleton(Login) },
  hooks: ({ tokens }) => [
    tap(afterTokensSave, () => tokens.load()),
    tap(authenticate, ({ authorization }) => {
      if (authorization === undefined) return undefined;
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      const known = token === undefined ? undefined : tokens.find(token);
      if (!known) throw errors.WRONG_TOKEN();
      return { name: known.name, via: 'bearer' };
    }),
  ],
  routes,
  start: async ({ admins, tokens, config, settings, dataDirectory, log }) => {
    await tokens.load();
    await createFirstAdmin(admins, config, { basePath: () => settings.read(panelSettings).webBasePath, dataDirectory, log });
  },
});
