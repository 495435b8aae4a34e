import {
  bool,
  file,
  int,
  list,
  optional,
  payload,
  route,
  type Route,
  shape,
  stream,
  text,
  withDefault,
  withMessage,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import type { ArchiveImporter } from './archive-importer.js';
import type { ArchiveWriter } from './archive-writer.js';
import { errors } from './errors.js';
import { MOST_FILE_BYTES } from './format.js';

const API = '/panel/api/x/archive';

const flag = (description: string) =>
  optional(bool().truthy('1', 'true').falsy('0', 'false')).description(description);
const Listed = () => list(shape({ name: text(), reason: text() }));
const KindReport = shape({
  kind: text(),
  records: int().min(0).description('in the archive'),
  taken: int().min(0),
  left: Listed().description('what stays out and why, the first 1,000'),
  leftCount: int().min(0),
  notes: Listed().description('what is not here as it was there'),
  noteCount: int().min(0),
  sums: list(
    shape({ name: text(), archive: text(), taken: text(), before: text(), after: text() }),
  ).description('as digits: in the archive, of what was taken, and in this panel before and after'),
});

export const routes = ({
  writer,
  importer,
  audit,
}: {
  writer: ArchiveWriter;
  importer: ArchiveImporter;
  audit?: AuditTrailApi | undefined;
}): Route[] => [
  route({
    method: 'GET',
    path: `${API}/export`,
    name: 'archive.export',
    doc: 'What the admin owns, as lines of JSON that other programs can read. It has the credentials of all clients and the private keys of inbounds. A reply without the last line, `{"end":…}`, is incomplete.',
    query: shape({ secrets: flag('1: also what opens other machines and accounts') }),
    reply: stream('application/x-ndjson'),
    handle: async ({ query: { secrets = false }, who, method }) => {
      const fileName = `weir_${new Date().toISOString().slice(0, 19).replaceAll(/[:T]/g, '-')}.jsonl`;
      if (method === 'HEAD') return { body: () => [] as never, fileName };
      await audit?.act('download', who, { name: 'archive', facts: { secrets } });
      return { body: writer.pieces({ secrets, at: new Date() }), fileName };
    },
  }),
  route({
    method: 'POST',
    path: `${API}/import`,
    name: 'archive.import',
    doc: 'Takes from an archive what is new here, and leaves what is here already. Without `apply`, it only says what it would do. An archive that is not whole is refused, with nothing changed.',
    files: { archive: file({ maxBytes: MOST_FILE_BYTES }) },
    body: shape({
      apply: withDefault(bool().truthy('1', 'true').falsy('0', 'false'), false).description(
        'false: a dry run',
      ),
      settings: withDefault(bool().truthy('1', 'true').falsy('0', 'false'), false).description(
        'settings of the archive replace those of this panel',
      ),
    }).example({ apply: true }),
    reply: payload(shape({ applied: bool(), release: text(), madeAt: text(), kinds: list(KindReport) })),
    errors: [errors.REFUSED, errors.BUSY],
    handle: async (input) => {
      const { apply, settings } = input.body;
      if (apply) await audit?.act('import', input.who, { name: 'archive' });
      const { who, signal } = input;
      const report = await holdingOpen(input.reply.progressed, () =>
        importer.run(input.files.archive.path, { apply, settings, who, signal }),
      );
      return withMessage(apply ? 'the archive is imported' : 'a dry run: nothing was changed', {
        ...report,
        kinds: report.kinds.map((kind) => ({
          ...kind,
          left: [...kind.left],
          notes: [...kind.notes],
          sums: [...kind.sums],
        })),
      });
    },
  }),
];
