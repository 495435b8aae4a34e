// A process of its own, as the user of the data folder: what it writes must belong to that user.
import { messageOf } from '../../kernel/errors/errors.js';
import { findCopy, putBack, type Wanted } from './put-back.js';

process.umask(0o077);
process.once('message', (message) => {
  const { directory, wanted } = message as { directory: string; wanted: Wanted };
  const reply = (answer: object): void => void process.send?.(answer, () => process.disconnect());
  findCopy(directory, wanted)
    .then(async (copy) => (copy === undefined ? {} : { copy, kept: await putBack(directory, copy) }))
    .then(reply, (error: unknown) => reply({ problem: messageOf(error) }));
});
