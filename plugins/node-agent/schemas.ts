// Bodies and replies of the wire between a central and this panel.
import {
  bool,
  int,
  list,
  nullable,
  openObject,
  optional,
  shape,
  text,
  withDefault,
  word,
} from '../../kernel/index.js';
import { Presence } from './presence-schemas.js';
import { BUCKETS } from './record-digest.js';

/** Changes of one call; a central with more sends several. A body has room for about so many: 10 MiB, and 200,000 of `,` `:` `[` `{`. */
const MOST_CHANGES = 5_000;
const MOST_ELSEWHERE = 25_000;

export const guid = () =>
  word()
    .max(64)
    .pattern(/^[\w:-]+$/, 'letters, digits, -, _ and :')
    .description('guid of the central: the panel that manages this one')
    .example('6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10');
const id = () => int().min(1);
const bytes = () => int().min(0);
const seq = () => int().min(0);

export const Apply = shape({
  central: guid(),
  changes: list(
    shape({
      kind: word().max(32).description('inbound or client'),
      id: id().description('id of the record at the central'),
      version: id().description('grows with each change of this record'),
      value: nullable(openObject()).description(
        'the whole record, as inbounds/add and clients/add take it; null: it is deleted. A client may have `period`: a number that grows when its usage starts again at zero',
      ),
      inboundIds: optional(list(id()).max(1000)).description(
        'of a client: where it is attached, by the ids of the central',
      ),
      adopts: optional(id()).description(
        'of an inbound: the id that it has here already, from `offers`. Only while the record is new',
      ),
      taken: optional(shape({ up: bytes(), down: bytes() })).description(
        'of a client that is adopted: what the central has counted of its usage here. What it used since is told',
      ),
      release: optional(bool()).description(
        'with the value null: the record is forgotten, and what it stands for stays as it is, without a central',
      ),
    }),
  ).max(MOST_CHANGES),
}).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  changes: [
    {
      kind: 'inbound',
      id: 7,
      version: 1,
      value: { protocol: 'vless', port: 24_431, listen: '127.0.0.1', tag: 'by-central' },
    },
    {
      kind: 'client',
      id: 12,
      version: 1,
      value: { email: 'ida@example.org', uuid: '0b1f4c0e-52d1-4b8f-9a4b-5f3fb3f3b0aa' },
      inboundIds: [7],
    },
  ],
});
export const Applied = shape({
  results: list(
    shape({
      kind: text(),
      id: int(),
      version: int(),
      ok: bool(),
      reason: optional(text()),
      newest: optional(int()).description(
        'the version that is here, where it is newer: nothing was changed; send what is wanted with a newer one',
      ),
    }),
  ),
});

export const OfCentral = shape({ central: guid() }).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
});
export const OfRecords = shape({
  central: guid(),
  bucket: optional(
    int()
      .min(0)
      .max(BUCKETS - 1),
  ),
  after: withDefault(
    text()
      .max(32)
      .pattern(/^(?:(?:inbound|client)\.\d{1,15})?$/, '`next` of the page before'),
    '',
  ),
});
export const OfUsage = shape({
  central: guid(),
  epoch: withDefault(text().max(64), '').description('the epoch that `after` belongs to'),
  after: withDefault(seq(), 0).description('the last seq of this epoch that the central has'),
  presence: optional(text().max(64)).description(
    'tell who is connected too: what changed since this `position`, or all for a blank one',
  ),
});

export const Summary = shape({
  guid: text().description('of this panel'),
  epoch: text().description('the current epoch of usage'),
  digest: text().description('digest of the digests of all buckets, in their order, joined by line feeds'),
  offers: text().description('changes when this panel has something else to adopt'),
});
export const Buckets = shape({
  guid: text(),
  digests: list(text()).description(
    'of the buckets 0 to 255: a record is in the bucket of its id modulo 256. First 16 hexadecimal digits of the SHA-256 of the lines `kind:id:version:state`, sorted as texts, joined by line feeds, without deleted records',
  ),
});
export const RecordPage = shape({
  guid: text(),
  records: list(
    shape({
      kind: text(),
      id: int(),
      version: int(),
      state: text().description(
        'ok; refused: it is not in force, `refused` says why; drifted: it was changed or deleted here. Send such a record again, with the same version or a newer one',
      ),
      refused: optional(text()),
      contestedBy: optional(text()).description('guid of another central that claims it'),
    }),
  ),
  next: text().description('`after` of the next page; blank on the last one'),
});
export const Usage = shape({
  guid: text(),
  epochs: list(
    shape({
      epoch: text(),
      seq: seq().description('`users` is complete up to this one: the next `after`'),
      isCurrent: bool(),
      more: bool().description('there is more of this epoch after `seq`'),
      users: list(shape({ clientId: int(), inboundId: int(), up: bytes(), down: bytes() })),
    }),
  ),
  presence: optional(Presence),
});
export const Acknowledge = shape({ central: guid(), epoch: word().max(64), seq: seq() }).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  epoch: 'b7e0c1de-64b2-4d3c-8f0e-6f5a1c2d3e4f',
  seq: 12,
});
export const ElsewhereReport = shape({
  central: guid(),
  users: list(
    shape({
      id: id().description('id of the client at the central'),
      up: bytes().description('bytes on all machines but this one'),
      down: bytes(),
      period: optional(seq()).description('as in the value of the client'),
    }),
  ).max(MOST_ELSEWHERE),
}).example({
  central: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  users: [{ id: 12, up: 1_048_576, down: 10_485_760 }],
});
export const ElsewhereTaken = shape({
  taken: int(),
  skipped: list(int()).description(
    'ids of clients that are not here or whose period is another one; the first thousand',
  ),
});
export const CentralList = list(
  shape({
    guid: text(),
    /** Unix ms */
    seenAt: int().description('Unix ms of its last change, to the hour'),
    records: int(),
  }),
);
