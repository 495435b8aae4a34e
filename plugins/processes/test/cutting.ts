// Appends numbered lines to a log and cuts it, until it is killed.
import { appendFileSync, readFileSync } from 'node:fs';
import { cutLog, olderLog } from '../cut-log.js';

const [path = '', keep = ''] = process.argv.slice(2);

/** The last line of the log, or of its newest part where it is empty. */
function last(): number {
  for (let number = 0; number <= 1; number++) {
    try {
      const line = readFileSync(olderLog(path, number), 'utf8').trimEnd().split('\n').at(-1);
      if (line) return Number(line);
    } catch {
      // There is no such file yet.
    }
  }
  return 0;
}

let next = last() + 1;
process.send?.('ready');
for (;;) {
  let lines = '';
  for (let i = 0; i < 20_000; i++) lines += `${next++}\n`;
  appendFileSync(path, lines);
  await cutLog(path, { maxBytes: 100_000, olderBytes: 10_000_000, keep: Number(keep) });
}
