import Joi from 'joi';
import {
  command,
  custom,
  definePlugin,
  job,
  optional,
  provide,
  singleton,
  text,
  variable,
} from '../../kernel/index.js';
import { Columns } from './columns.js';
import { Secrets } from './contract.js';
import { keysOf } from './key-file.js';
import { Keyring } from './keyring.js';
import type { Key } from './sealed-text.js';
import { SecretsService } from './service.js';
import { migrations, tables } from './tables.js';

const givenKeys = () =>
  custom<readonly Key[]>(
    Joi.any().custom((value: unknown, state) => {
      const keys = typeof value === 'string' ? keysOf(value, /,/) : 'it must be text';
      return typeof keys === 'string' ? state.error('any.custom', { error: new Error(keys) }) : keys;
    }),
  );

export default definePlugin({
  name: 'secrets',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Encrypts secrets in the database, with a key that is not in it.',
  config: {
    secretKey: variable(
      'WEIR_SECRET_KEY',
      optional(givenKeys()),
      'key for secrets in the database, 32 bytes in base64, in place of secrets.key; previous keys after it, comma-separated',
    ),
    forget: variable(
      'WEIR_SECRET_FORGET',
      optional(text().pattern(/^[0-9a-f]{16}$/, 'id of a key')),
      'id of a lost key: the panel starts, and what is sealed with it is given up',
    ),
  },
  tables,
  migrations,
  services: {
    columns: singleton(Columns),
    keyring: singleton(Keyring),
    service: singleton(SecretsService),
  },
  provides: ({ service }) => [provide(Secrets, service)],
  commands: ({ service, keyring }) => [
    command({
      name: 'secrets rotate',
      about: 'Makes a new key for the secrets in the database and encrypts all of them with it.',
      example: 'weir secrets rotate',
      run: async ({ say }) => {
        const { count, key, problems } = await service.rotate();
        say(`The key ${key} is in use; ${count} secrets were encrypted with it.`);
        for (const problem of problems) say(`Not encrypted again: ${problem}.`);
        if (problems.length > 0) say('The previous key is kept, for these were encrypted with it.');
        else if (keyring.isGiven)
          say(
            `Leave only the first key in WEIR_SECRET_KEY, and delete ${keyring.path} if it is there. To change the key, put a new one before it first.`,
          );
        else
          say(
            `The previous key is deleted from ${keyring.path} within half an hour, or at the next start. Make a new backup then.`,
          );
      },
    }),
  ],
  jobs: ({ service }) => [job('retire', '10m', () => service.retire())],
  start: ({ service }) => service.start(),
});
