// The jobs of all plugins: when they run, how the last turn went, and a turn now.
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
  type Route,
  route,
  withMessage,
  shape,
  type Static,
  text,
  word,
} from '../../kernel/index.js';
import { errors } from './errors.js';

/** How long somebody who runs a job waits for its end. */
const PATIENCE_MS = 5_000;

const JobEntry = shape({
  plugin: text(),
  job: text(),
  when: text().description('such as "every 5s" or "at 30 4 * * *"'),
  nextAt: int().description('Unix ms of the next turn, before any jitter; 0 when none is planned'),
  runningSince: int().description('Unix ms since when a turn is under way; 0 when none is'),
  lastAt: int().description(
    'Unix ms at which the last turn began; 0 when there was none since the panel started',
  ),
  lastTookMs: int(),
  lastError: text().description('why the last turn failed; empty when it went well'),
});
type JobEntry = Static<typeof JobEntry>;

const entryOf = ({ last, ...state }: JobState): JobEntry => ({
  ...state,
  lastAt: last?.startedAt ?? 0,
  lastTookMs: last?.tookMs ?? 0,
  lastError: last?.error ?? '',
});

/** Runs a job and answers with how it stands after its end, or after a few seconds. Throws NO_JOB, JOB_RUNS and JOB_RESTS. */
async function runJob(
  jobs: JobsApi,
  plugin: string,
  job: string,
  patienceMs = PATIENCE_MS,
): Promise<JobEntry> {
  const find = (): JobState => {
    const found = jobs.list().find((state) => state.plugin === plugin && state.job === job);
    if (!found)
      throw errors.NO_JOB(`the plugin ${plugin} has no job ${job}; GET /panel/api/system/jobs lists all`);
    return found;
  };
  const { runningSince } = find();
  if (runningSince > 0) throw errors.JOB_RUNS(`the job ${job} of ${plugin} is running already`);
  const turn = jobs.run(plugin, job);
  if (!turn)
    throw errors.JOB_RESTS(
      `the plugin ${plugin} is not called now, and its jobs neither; weir plugins says why`,
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

export const jobRoutes = (jobs: JobsApi): readonly Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/system/jobs',
    doc: 'The jobs of all plugins: when they run, and how the last turn went.',
    reply: payload(list(JobEntry)),
    handle: () => jobs.list().map(entryOf),
  }),
  route({
    method: 'POST',
    path: '/panel/api/system/jobs/{plugin}/{job}',
    doc: 'Runs a job now. The reply comes when it has ended, or after five seconds while it runs on; the list tells how it went.',
    params: shape({ plugin: word().max(255), job: word().max(255) }),
    reply: payload(JobEntry),
    errors: [errors.NO_JOB, errors.JOB_RUNS, errors.JOB_RESTS],
    handle: async ({ params: { plugin, job } }) => {
      const entry = await runJob(jobs, plugin, job);
      return withMessage(outcome(entry), entry);
    },
  }),
];

const moment = (ms: number): string =>
  ms === 0 ? '–' : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

export const jobsCommand = (jobs: JobsApi): Command =>
  command({
    name: 'jobs',
    about: 'Lists the jobs of all plugins with their last and next turn (UTC), or runs one of them now.',
    options: { run: optional(word().description('plugin/job to run, as the list shows it')) },
    example: 'weir jobs --run traffic/poll',
    run: async ({ options: { run }, say }) => {
      if (run !== undefined) {
        const [, plugin = '', job = ''] = /^([^/]*)\/?(.*)$/s.exec(run) ?? [];
        return say(outcome(await runJob(jobs, plugin, job)));
      }
      for (const { plugin, job, when, nextAt, last, runningSince } of jobs.list()) {
        const lastTurn = runningSince > 0 ? 'running' : (last?.error ?? '');
        say(
          `${`${plugin}/${job}`.padEnd(28)} ${when.padEnd(24)} last ${moment(last?.startedAt ?? 0).padEnd(19)} next ${moment(nextAt).padEnd(19)} ${lastTurn}`.trimEnd(),
        );
      }
    },
  });
