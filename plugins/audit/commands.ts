import { command, optional, Refusal, word } from '../../kernel/index.js';
import { asNoted, HEAD } from './noted.js';
import type { Verification } from './verification.js';

export const commands = ({ verification }: { readonly verification: Verification }) => [
  command({
    name: 'audit verify',
    about: 'Looks whether the record of changes is what was written, and shows its head. Changes nothing.',
    options: {
      head: optional(
        word()
          .pattern(HEAD, 'the head of an earlier verification')
          .description('what an earlier verification showed; finds entries that were removed at the end'),
      ),
    },
    example: 'weir audit verify',
    run: async ({ options, say, signal }) => {
      const { entries, changes, problems, head } = await verification.run(asNoted(options.head), () =>
        signal.throwIfAborted(),
      );
      for (const problem of problems) say(`- ${problem}`);
      say(`${entries} entries with ${changes} changes; head ${head.id}:${head.hash}`);
      if (problems.length > 0) throw new Refusal('the record of changes is not what was written');
      say('the record is what was written');
    },
  }),
];
