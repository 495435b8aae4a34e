// Jobs, the clients that they are still to change, and those that were skipped.
import {
  column,
  type Migration,
  type Principal,
  type Row,
  table,
  type TableModels,
} from '../../kernel/index.js';
import type { BulkActionName, ClientFilter } from '../clients/contract.js';

/** `stopping`: the portion under way is the last one */
export type JobState = 'waiting' | 'running' | 'stopping' | 'done' | 'stopped' | 'failed';
export const OPEN: readonly JobState[] = ['running', 'stopping', 'waiting'];
/** `partly`: a part of the action did not fit, the rest was done */
export type Outcome = 'skipped' | 'partly' | 'failed';
export interface Reason {
  readonly outcome: Outcome;
  readonly code: string;
  readonly reason: string;
  readonly count: number;
}

export const tables = {
  jobs: table('bulk_jobs', {
    id: column.id(),
    action: column.text<BulkActionName>(),
    params: column.json<object>(),
    filter: column.optionalJson<ClientFilter>(),
    who: column.json<Pick<Principal, 'name' | 'kind' | 'ip'>>(),
    state: column.text<JobState>(),
    /** the job that it repeats */
    retryOf: column.optionalInteger(),
    total: column.integer(),
    changed: column.integer(),
    unchanged: column.integer(),
    skipped: column.integer(),
    failed: column.integer(),
    /** rows of `skipped`: places from 1 to this one */
    listed: column.integer(),
    /** why clients were not changed, with counts */
    reasons: column.json<readonly Reason[]>(),
    /** why it failed */
    problem: column.text(),
    createdAt: column.integer(),
    startedAt: column.optionalInteger(),
    endedAt: column.optionalInteger(),
  }),
  /** Clients that a job has still to do, some hundred in a row: one portion. */
  targets: table('bulk_job_targets', {
    jobId: column.key<number>('integer'),
    number: column.key<number>('integer'),
    /** how many of them are left */
    size: column.integer(),
    /** JSON: `[clientId, email]`, the rest of them */
    entries: column.text(),
  }),
  skipped: table('bulk_job_skipped', {
    jobId: column.key<number>('integer'),
    place: column.key<number>('integer'),
    outcome: column.text<Outcome>(),
    /** 0 for an email that no client had */
    clientId: column.integer(),
    email: column.text(),
    code: column.text(),
    reason: column.text(),
  }),
} as const;
export type JobTables = TableModels<typeof tables>;
export type JobRow = Row<typeof tables.jobs>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-jobs',
    up: ({ id, integer, json, text, dialect }) => {
      const clustered = dialect === 'sqlite' ? ' WITHOUT ROWID' : '';
      return [
        `CREATE TABLE bulk_jobs (
          id ${id}, action VARCHAR(32) NOT NULL, params ${json} NOT NULL, filter ${json}, who ${json} NOT NULL,
          state VARCHAR(16) NOT NULL, retry_of ${integer}, total ${integer} NOT NULL, changed ${integer} NOT NULL,
          unchanged ${integer} NOT NULL, skipped ${integer} NOT NULL, failed ${integer} NOT NULL, listed ${integer} NOT NULL,
          reasons ${json} NOT NULL,
          problem VARCHAR(512) NOT NULL, created_at ${integer} NOT NULL, started_at ${integer}, ended_at ${integer})`,
        `CREATE TABLE bulk_job_targets (
          job_id ${integer} NOT NULL, number ${integer} NOT NULL, size ${integer} NOT NULL, entries ${text} NOT NULL,
          PRIMARY KEY (job_id, number))${clustered}`,
        `CREATE TABLE bulk_job_skipped (
          job_id ${integer} NOT NULL, place ${integer} NOT NULL, outcome VARCHAR(16) NOT NULL, client_id ${integer} NOT NULL,
          email VARCHAR(255) NOT NULL, code VARCHAR(64) NOT NULL, reason VARCHAR(512) NOT NULL,
          PRIMARY KEY (job_id, place))${clustered}`,
      ];
    },
  },
];
