// How long processors have worked for this process and for the programs that it started, once these have ended.
import { readFileSync } from 'node:fs';

/** /proc counts in hundredths of a second. */
const TICK_MS = 10;

/** ms; 0 where there is no /proc */
export function workTime() {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    // proc(5), behind the name in brackets: utime, stime, cutime and cstime are the fields 14 to 17.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + TICK_MS * Number(ticks), 0);
  } catch {
    return 0;
  }
}
