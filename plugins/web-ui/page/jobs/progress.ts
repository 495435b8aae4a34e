// What a job on many clients has done so far, and what a reader may do with it.
import type { BulkJobsListReply } from '../../../../sdk/index.js';

export type Job = BulkJobsListReply[number];

const HOUR = 3_600_000;
/** Jobs that ended longer ago are on their own page only. */
const RECENT_MS = HOUR;

export const isOpen = ({ state }: Pick<Job, 'state'>): boolean =>
  state === 'waiting' || state === 'running' || state === 'stopping';

/** From 0 to 1. */
export const shareOf = ({ done, total }: Pick<Job, 'done' | 'total'>): number =>
  total > 0 ? Math.min(1, done / total) : 1;

/** Clients that another try would change. */
export const leftOf = ({ total, done, skipped, failed }: Job): number =>
  Math.max(0, total - done) + skipped + failed;

/** What the list shows beside the clients: open jobs, and those that ended a short time ago and were not closed. */
export const recentJobs = (jobs: readonly Job[], now: number, closed: ReadonlySet<number>): Job[] =>
  jobs.filter((job) => isOpen(job) || (!closed.has(job.id) && (job.endedAt ?? 0) > now - RECENT_MS));

/** The known jobs with those of a message of the live stream, newest first. A message has only the last ones. */
export function withNews(known: readonly Job[] | null | undefined, news: readonly Job[]): Job[] {
  const byId = new Map((known ?? []).map((job) => [job.id, job]));
  for (const job of news) byId.set(job.id, job);
  return [...byId.values()].sort((a, b) => b.id - a.id);
}
