// Counts why clients were not changed: few reasons, whatever the number of clients.
import type { Listed } from './skipped-clients.js';
import { shortened } from './skipped-clients.js';
import type { Reason } from './tables.js';

/** A plugin may give each client a reason of its own. */
const MOST_REASONS = 30;
const OTHERS = 'other reasons';

/** The counts with these clients added, the most frequent first. */
export function counted(before: readonly Reason[], clients: readonly Listed[]): Reason[] {
  const counts = new Map(before.map((reason) => [keyOf(reason), { ...reason }]));
  for (const { outcome, code, reason } of clients) {
    const own = { outcome, code, reason: shortened(reason) };
    const isKnown = counts.has(keyOf(own)) || counts.size < MOST_REASONS;
    const shown = isKnown ? own : { outcome, code: '', reason: OTHERS };
    const known = counts.get(keyOf(shown));
    if (known) known.count++;
    else counts.set(keyOf(shown), { ...shown, count: 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}

const keyOf = ({ outcome, code, reason }: Pick<Reason, 'outcome' | 'code' | 'reason'>): string =>
  `${outcome}\n${code}\n${reason}`;
