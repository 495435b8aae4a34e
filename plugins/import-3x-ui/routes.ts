import {
  bool,
  file,
  int,
  list,
  num,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withMessage,
} from '../../kernel/index.js';
import { holdingOpen } from '../outgoing/contract.js';
import { errors } from './errors.js';
import type { Import3xUi } from './import.js';
import { type ImportReport, isEqual } from './report.js';
import { MOST_BYTES } from './source/private-copy.js';

const Reasons = list(
  shape({
    why: text(),
    count: int(),
    names: list(text()).description('the first rows with it'),
  }),
);
const Report = shape({
  dryRun: bool(),
  tables: list(
    shape({
      table: text(),
      found: int().description('rows in the file'),
      taken: int().description('rows that are new here, or would be'),
      present: int().description('rows that are here already; they stay as they are'),
      changed: Reasons.description('what of the taken rows is not as it was'),
      left: Reasons.description('rows that are not here, and why'),
    }),
  ),
  sums: list(
    shape({
      name: text(),
      there: num().description('in the file, over what was taken'),
      here: num(),
    }),
  ),
});

function said(report: ImportReport): string {
  const [clients, inbounds] = ['clients', 'inbounds'].map(
    (name) => report.tables.find(({ table }) => table === name)?.taken ?? 0,
  );
  const end = report.dryRun
    ? 'would be taken'
    : isEqual(report)
      ? 'taken; all sums are equal'
      : 'taken; SUMS DIFFER';
  return `${inbounds} inbounds and ${clients} clients ${end}`;
}

export const routes = ({ importing }: { importing: Import3xUi }): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/x/import/3x-ui',
    name: 'import3xui.run',
    doc: 'Takes in the database of 3x-ui (`x-ui.db`). With `dryRun` true, only says what it would do. What is here already stays as it is, so it can be repeated; an import that was interrupted is continued by the same call.',
    files: { db: file({ maxBytes: MOST_BYTES }) },
    body: shape({
      dryRun: optional(text().max(16).description('true: writes nothing')),
    }).example({ dryRun: 'true' }),
    reply: payload(Report),
    errors: [errors.UNREADABLE, errors.BUSY],
    handle: async (input) => {
      const report = await holdingOpen(input.reply.progressed, () =>
        importing.run({
          path: input.files.db.path,
          dryRun: input.body.dryRun === 'true',
          who: input.who,
        }),
      );
      return withMessage(said(report), report);
    },
  }),
];
