// The names that stand in groups.
import type { Written } from '../../subscription/contract.js';

/** All but a note, which connects nowhere; the note if there is nothing else. */
export const chosen = ({ names, sources }: Pick<Written, 'names' | 'sources'>): readonly string[] =>
  names.length > 1 && sources[0]?.isNote ? names.slice(1) : names;
