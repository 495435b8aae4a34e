// What an import found, as lines for a terminal.
import type { ImportReport, KindReport, Said } from './archive-importer.js';

/** Lines of one kind of trouble; the reply of the route has more. */
const MOST_SHOWN = 20;

const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?');
const listed = (said: readonly Said[], count: number): string[] => [
  ...said.slice(0, MOST_SHOWN).map(({ name, reason }) => `    ${plain(name)}: ${plain(reason)}`),
  ...(count > MOST_SHOWN ? [`    and ${count - Math.min(MOST_SHOWN, said.length)} more`] : []),
];

const became = (applied: boolean): string => (applied ? 'taken' : 'would be taken');

function linesOf(
  { kind, records, taken, left, leftCount, notes, noteCount, sums }: KindReport,
  applied: boolean,
): string[] {
  return [
    `${kind}: ${records} in the archive, ${taken} ${became(applied)}, ${leftCount} left`,
    ...listed(left, leftCount),
    ...(noteCount > 0 ? [`  taken with a difference: ${noteCount}`, ...listed(notes, noteCount)] : []),
    ...sums.map(({ name, archive, taken: sum, before, after }) => {
      const fits = BigInt(before) + BigInt(sum) === BigInt(after);
      const here = applied ? `here ${before} before and ${after} now` : `here ${before}`;
      return `  sum of ${name}: ${archive} in the archive, ${sum} of what ${applied ? 'was' : 'would be'} taken, ${here}${applied && !fits ? ' (traffic went on meanwhile, or limits acted)' : ''}`;
    }),
  ];
}

export const told = ({ applied, release, madeAt, kinds }: ImportReport): string[] => [
  `the archive is whole: release ${plain(release).slice(0, 40)}, made at ${plain(madeAt).slice(0, 40)}`,
  ...kinds.filter(({ records }) => records > 0).flatMap((kind) => linesOf(kind, applied)),
  applied
    ? 'the archive is imported'
    : 'this was a dry run and nothing was changed; run it again with --apply to import',
];
