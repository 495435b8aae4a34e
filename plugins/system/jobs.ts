// The jobs of all plugins: their schedule, their last run, and running one now.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  command,
  type Command,
  int,
  type JobsApi,
  type JobState,
  list,
  optional,
  payload,
  type Principal,
  type Route,
  route,
  withMessage,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { errors } from './errors.js';

/** How long a request to run a job waits for its result. */
const PATIENCE_MS = 5_000;

const JobEntry = shape({
  plugin: text(),
  job: text(),
  when: text().description('such as "every 5s" or "at 30 4 * * *"'),
  nextAt: int().description('Unix ms of the next run, before any jitter; 0 when none is planned'),
  runningSince: int().description('Unix ms since when the job has been running; 0 when it is not'),
  lastAt: int().description(
    'Unix ms at which the last run began; 0 when there was none since the panel started',
  ),
  lastTookMs: int(),
  lastError: text().description('why the last run failed; empty when it succeeded'),
});
type JobEntry = Static<typeof JobEntry>;

const entryOf = ({ last, ...state }: JobState): JobEntry => ({
  ...state,
  lastAt: last?.startedAt ?? 0,
  lastTookMs: last?.tookMs ?? 0,
  lastError: last?.error ?? '',
});

/** Runs a job and returns its state after its end, or after a few seconds. Throws NO_JOB, JOB_RUNS and JOB_RESTS. */
async function runJob(
  jobs: JobsApi,
  { plugin, job }: { readonly plugin: string; readonly job: string },
  noted: () => Promise<void> | undefined,
  patienceMs = PATIENCE_MS,
): Promise<JobEntry> {
  const find = (): JobState => {
    const found = jobs.list().find((state) => state.plugin === plugin && state.job === job);
    if (!found)
      throw errors.NO_JOB(`the plugin ${plugin} has no job ${job}; GET /panel/api/system/jobs lists all`);
    return found;
  };
  const { runningSince } = find();
  if (runningSince > 0) throw errors.JOB_RUNS(`the job ${job} of ${plugin} is already running`);
  await noted();
  const turn = jobs.run(plugin, job);
  if (!turn)
    throw errors.JOB_RESTS(
      `the plugin ${plugin} is not running, so its jobs cannot run; weir plugins shows the reason`,
    );
  const over = new AbortController();
  await Promise.race([turn, sleep(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
  return entryOf(find());
}

const outcome = ({ plugin, job, runningSince, lastError, lastTookMs }: JobEntry): string => {
  if (runningSince > 0) return `the job ${job} of ${plugin} is running`;
  return lastError === ''
    ? `the job ${job} of ${plugin} ran for ${lastTookMs} ms`
    : `the job ${job} of ${plugin} failed: ${lastError}`;
};

const noteOf = (audit: AuditTrailApi | undefined, who: Principal, plugin: string, job: string) => () =>
  audit?.act('job', who, { name: `${plugin}/${job}` });

export const jobRoutes = (jobs: JobsApi, audit: AuditTrailApi | undefined): readonly Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/system/jobs',
    doc: 'Lists the jobs of all plugins with their schedule and the result of the last run.',
    reply: payload(list(JobEntry)),
    handle: () => jobs.list().map(entryOf),
  }),
  route({
    method: 'POST',
    path: '/panel/api/system/jobs/{plugin}/{job}',
    doc: 'Runs a job now. The reply comes when the job has finished, or after five seconds while it continues; the list then has the result.',
    params: shape({ plugin: word().max(255), job: word().max(255) }),
    reply: payload(JobEntry),
    errors: [errors.NO_JOB, errors.JOB_RUNS, errors.JOB_RESTS],
    handle: async ({ params: { plugin, job }, who }) => {
      const entry = await runJob(jobs, { plugin, job }, noteOf(audit, who, plugin, job));
      return withMessage(outcome(entry), entry);
    },
  }),
];

const moment = (ms: number): string =>
  ms === 0 ? '–' : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

export const jobsCommand = (jobs: JobsApi, audit: AuditTrailApi | undefined): Command =>
  command({
    name: 'jobs',
    about: 'Lists the jobs of all plugins with their last and next run (UTC), or runs one of them now.',
    options: { run: optional(word().description('plugin/job to run, as the list shows it')) },
    example: 'weir jobs --run traffic/poll',
    run: async ({ options: { run }, who, say }) => {
      if (run !== undefined) {
        const [, plugin = '', job = ''] = /^([^/]*)\/?(.*)$/s.exec(run) ?? [];
        const done = await runJob(jobs, { plugin, job }, noteOf(audit, who, plugin, job));
        return say(outcome(done));
      }
      for (const { plugin, job, when, nextAt, last, runningSince } of jobs.list()) {
        const lastTurn = runningSince > 0 ? 'running' : (last?.error ?? '');
        say(
          `${`${plugin}/${job}`.padEnd(28)} ${when.padEnd(24)} last ${moment(last?.startedAt ?? 0).padEnd(19)} next ${moment(nextAt).padEnd(19)} ${lastTurn}`.trimEnd(),
        );
      }
    },
  });
