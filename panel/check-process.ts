// The process of a check. It imports third-party plugins: one that hangs, exits or writes to the terminal does no harm here.
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
