import {
  file,
  int,
  nullable,
  oneOf,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withMessage,
} from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import { decryptionFields, decryptionOf } from './decryption-fields.js';
import { errors } from './errors.js';
import { type Restore, summary } from './restore.js';

const MOST_BYTES = 2 * 1024 ** 3;

const LastRestore = shape({
  at: int().description('Unix ms'),
  state: oneOf('under way', 'done', 'failed').description('failed: the previous database is in use'),
  problem: text().description('why it failed; empty else'),
  previous: text().description('path of the database that was replaced; empty where there is none'),
});

export const restoreRoutes = (restore: Restore): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/server/importDB',
    name: 'server.importDB',
    doc: 'Restores a backup: a SQLite file of getDb or `weir backup`. It is copied row by row into a new database, on which a panel is started and checked. Then the panel restarts with that database, and all sessions end. If anything fails, the previous database stays. GET /panel/api/x/backup/restore returns the result of the restart.',
    files: { db: file({ maxBytes: MOST_BYTES }) },
    body: shape({
      keepHostSettings: optional(
        text()
          .max(16)
          .description(
            'false: addresses, ports, certificates and base path come from the backup too; by default those of this panel stay',
          ),
      ),
      secretsKey: optional(
        text()
          .max(4096)
          .description('content of the `secrets.key` of the backup, if it comes from another panel'),
      ),
      ...decryptionFields(),
    }).example({ keepHostSettings: 'true' }),
    reply: payload(text()),
    errors: [errors.NO_PROGRAM, errors.RESTORING, errors.NEEDS_KEY, errors.NOT_RESTORED],
    handle: async (input) => {
      const decryption = await decryptionOf(input.body);
      const result = await holdingOpen(input.reply.progressed, () =>
        restore.restore({
          path: input.files.db.path,
          who: input.who,
          keepHostSettings: input.body.keepHostSettings !== 'false',
          keys: (input.body.secretsKey ?? '').split(/\s+/),
          decryption,
        }),
      );
      input.reply.header('connection', 'close');
      return withMessage('', `the backup is restored and the panel restarts: ${summary(result)}`);
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/backup/restore',
    name: 'backup.lastRestore',
    doc: 'The last restore, or null.',
    reply: payload(nullable(LastRestore)),
    handle: async () => (await restore.last()) ?? null,
  }),
];
