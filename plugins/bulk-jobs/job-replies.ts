// How a job is shown.
import { int, list, nullable, oneOf, openObject, shape, text } from '../../kernel/index.js';
import { bulkActions, type BulkActionName, ClientFilter } from '../clients/contract.js';
import type { JobFacts } from './job-store.js';

export const actionNames = Object.keys(bulkActions) as [BulkActionName, ...BulkActionName[]];
const count = () => int().min(0);
const moment = () => nullable(int().min(0)).description('Unix ms');
export const outcome = () =>
  oneOf('skipped', 'partly', 'failed').description(
    'partly: a part of the action did not fit, the rest was done',
  );

const jobFields = {
  id: int().min(1),
  action: oneOf(...actionNames),
  params: openObject().description('as they were sent, with defaults'),
  state: oneOf('waiting', 'running', 'stopping', 'done', 'stopped', 'failed'),
  total: count(),
  done: count().description('changed, unchanged, skipped and failed together'),
  changed: count(),
  unchanged: count().description('were as wanted before'),
  skipped: count(),
  failed: count(),
  listed: count().description('rows of /skipped'),
  reasons: list(shape({ outcome: outcome(), code: text(), reason: text(), count: count() })),
  problem: text().description('why the whole job failed, or blank'),
  retryOf: nullable(int().min(1)).description('id of the job that it repeats'),
  by: shape({ name: text(), kind: text() }),
  createdAt: int().min(0).description('Unix ms'),
  startedAt: moment(),
  endedAt: moment(),
};
export const JobReply = shape(jobFields);
export const JobDetail = shape({ ...jobFields, filter: nullable(ClientFilter) });
export const SkippedReply = shape({
  id: count().description('0 for an email that no client had'),
  email: text(),
  outcome: outcome(),
  code: text(),
  reason: text(),
});

export const doneOf = ({ changed, unchanged, skipped, failed }: JobFacts): number =>
  changed + unchanged + skipped + failed;

export function replyOf(job: JobFacts) {
  const { who, ...facts } = job;
  return {
    ...facts,
    params: { ...facts.params },
    reasons: [...facts.reasons],
    done: doneOf(job),
    by: { name: who.name, kind: who.kind },
  };
}
