// The process that reads one file: a file that crashes, blocks or fills it does no harm to the panel.
import { writeFileSync } from 'node:fs';
import { clientPage } from './client-pages.js';
import { FileReader } from './file-reader.js';
import type { Question, Reply } from './known-tables.js';

process.umask(0o077);
// Where memory runs out, this process goes and not the panel.
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Not every system has it.
}

let reader: FileReader | undefined;

async function answer(question: Question): Promise<Reply> {
  if (question.ask === 'open') {
    reader = await FileReader.open(question.path);
    return { facts: await reader.facts() };
  }
  if (!reader) throw new Error('it is not open');
  return question.ask === 'rows'
    ? reader.rows(question.table, question.after)
    : clientPage(reader, question.after);
}

process.on('message', (question: Question) => {
  void answer(question).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ problem: error instanceof Error ? error.message : String(error) }),
  );
});
// The panel is gone: nobody waits for the result.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
