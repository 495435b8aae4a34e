// Digests of records: a central that computes the same ones need not ask for the records.
import { createHash } from 'node:crypto';
import type { RecordRow } from './tables.js';

/** Records are compared in so many groups, by their id. */
export const BUCKETS = 256;
export const bucketOf = (id: number): number => id % BUCKETS;

export type RecordState = 'ok' | 'refused' | 'drifted';
export const stateOf = ({ refused, isDrifted }: Pick<RecordRow, 'refused' | 'isDrifted'>): RecordState =>
  refused !== '' ? 'refused' : isDrifted ? 'drifted' : 'ok';

/** The lines `kind:id:version:state` of records that are not gone, sorted as texts and joined by line feeds: the first 16 hexadecimal digits of their SHA-256. */
export function digestOf(
  records: readonly Pick<RecordRow, 'kind' | 'id' | 'version' | 'refused' | 'isDrifted'>[],
): string {
  const lines = records.map((record) => `${record.kind}:${record.id}:${record.version}:${stateOf(record)}`);
  return shortHash(lines.sort().join('\n'));
}
/** The digest of all buckets, in their order, joined by line feeds. */
export const digestOfAll = (buckets: readonly string[]): string => shortHash(buckets.join('\n'));

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
