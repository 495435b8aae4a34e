// The process of a check. Plugins of others are imported in here: one that hangs, ends the process or writes onto the terminal harms nobody.
import { messageOf } from '../kernel/errors/errors.js';
import { check, type CheckOptions } from './check.js';

process.once('message', (options: Omit<CheckOptions, 'env'>) => {
  void check({ ...options, env: process.env }).then(
    (report) => process.send?.(report, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exit(1);
    },
  );
});
