// The process of a rehearsal or a copy: a file that crashes, blocks or fills it does no harm to the panel.
import { writeFileSync } from 'node:fs';
import { messageOf } from '../../kernel/errors/errors.js';
import type { Rehearsed } from '../../plugins/backup/contract.js';
import type { Work } from './in-child.js';
import { rehearse, tryStart } from './rehearse.js';
import { copyFromServer } from './to-server.js';

process.umask(0o077);
// Where memory runs out, this process goes and not the panel.
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Not every system has it.
}

async function perform(work: Work): Promise<Rehearsed> {
  if (work.kind === 'rehearsal') return rehearse(work, process.env);
  const problem = await (work.kind === 'trial'
    ? tryStart(process.env, work.folder)
    : copyFromServer(process.env, work)
  ).then(() => '', messageOf);
  return { problem, rows: {}, leftOut: [] };
}

process.once('message', (work: Work) => {
  void perform(work).then(
    // An exit would wait for a thread of SQLite that is still at work.
    (result) => process.send?.(result, () => process.kill(process.pid, 'SIGKILL')),
    (error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`);
      process.exit(1);
    },
  );
});
// The panel is gone: nobody waits for the result.
process.once('disconnect', () => process.exit(1));
