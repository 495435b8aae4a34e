// What the record of changes says of a job: its beginning, an admin's stop, and its end. Its clients have no entries of their own.
import type { Principal, Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { JobFacts } from './job-store.js';

const AREA = 'clientJob';
const nameOf = ({ action, total }: JobFacts): string => `${action}: ${total} clients`;

export async function recordStart(
  audit: AuditTrailApi | undefined,
  tx: Tx,
  who: Principal,
  job: JobFacts,
  whom: {
    readonly filter?: object | undefined;
    readonly emails?: number | undefined;
    readonly except: number;
  },
): Promise<void> {
  const { id, action, params, total, retryOf } = job;
  const after = { action, params, ...whom, total, retryOf };
  await audit?.record(tx, AREA, who, [{ kind: 'added', name: nameOf(job), id, before: undefined, after }]);
}

/** Of a job that stops, or ends: the fields that change. */
export async function recordChange(
  audit: AuditTrailApi | undefined,
  tx: Tx,
  who: Principal,
  job: JobFacts,
  state: JobFacts['state'],
): Promise<void> {
  const { id, changed, unchanged, skipped, failed } = job;
  const isOver = state !== 'stopping';
  const before = { state: job.state };
  const after = { state, ...(isOver && { changed, unchanged, skipped, failed }) };
  await audit?.record(tx, AREA, who, [{ kind: 'updated', name: nameOf(job), id, before, after }]);
}
