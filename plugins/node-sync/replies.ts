// Replies of a node, checked: a node may lie, and has limits before it is believed.
import {
  bool,
  inspectInSlices,
  int,
  list,
  optional,
  type Schema,
  shape,
  text,
  word,
  sentenceOf,
} from '../../kernel/index.js';

const kind = () => text().max(32);
const count = () => int().min(0);
const id = () => int().min(1);
/** There must be room above it: ours becomes newer. */
const version = () =>
  int()
    .min(0)
    .max(2 ** 52);

/** Fields that a newer node adds are left alone. */
const open = <S extends { unknown(allow?: boolean): S }>(schema: S): S => schema.unknown(true);

export const ApplyReply = open(
  shape({
    results: list(
      open(
        shape({
          kind: kind(),
          id: count(),
          version: count(),
          ok: bool(),
          reason: optional(text().allow('').max(4096)),
          newest: optional(version()),
        }),
      ),
    ).max(10_000),
  }),
);
export const SummaryReply = open(shape({ digest: text().max(64), offers: optional(text().max(64)) }));
export const BucketsReply = open(shape({ digests: list(text().max(64)).max(1024) }));
export const RecordsReply = open(
  shape({
    records: list(open(shape({ kind: kind(), id: id(), version: version(), state: text().max(32) }))).max(
      10_000,
    ),
    next: text().allow('').max(64),
  }),
);
export const UsageReply = open(
  shape({
    guid: text().max(64),
    epochs: list(
      open(
        shape({
          epoch: word().max(64),
          seq: count(),
          isCurrent: bool(),
          more: bool(),
          users: list(open(shape({ clientId: id(), inboundId: id(), up: count(), down: count() }))).max(
            50_000,
          ),
        }),
      ),
    ).max(64),
  }),
);

/** What a node says, in one line of a list, a log or a message: no line feeds, nothing invisible. */
export const printable = (text: string, most: number): string =>
  text.slice(0, most).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

/** A reply that is no reply of a node. */
export class UnreadableReply extends Error {}

/** Rejects with a sentence that says what is wrong with the reply. */
export async function checked<T>(schema: unknown, obj: unknown): Promise<T> {
  const result = await inspectInSlices(schema as Schema, obj);
  if ('value' in result) return result.value as T;
  const problems = sentenceOf(result.issues);
  throw new UnreadableReply(`its reply cannot be read: ${problems}`.slice(0, 300));
}
