// The process of a rehearsal: a file that crashes, blocks or fills it does no harm to the panel.
import { messageOf } from '../../kernel/errors/errors.js';
import { rehearse, type RehearsalOptions } from './rehearse.js';

process.umask(0o077);
process.once('message', (options: RehearsalOptions) => {
  void rehearse(options, process.env).then(
    (result) => process.send?.(result, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exit(1);
    },
  );
});
// The panel is gone: nobody waits for the result.
process.once('disconnect', () => process.exit(1));
