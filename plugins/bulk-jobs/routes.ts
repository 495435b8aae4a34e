import {
  int,
  LIST_BODY,
  list,
  once,
  payload,
  route,
  type Route,
  shape,
  stream,
  text,
  withDefault,
  withMessage,
  nullable,
} from '../../kernel/index.js';
import { clientErrors } from '../clients/contract.js';
import { errors } from './errors.js';
import { JobDetail, JobReply, replyOf, SkippedReply } from './job-replies.js';
import { JobBody, requestOf } from './job-request.js';
import type { JobService, Started } from './job-service.js';
import type { JobStore } from './job-store.js';
import { skippedCsv } from './skipped-csv.js';
import type { SkippedClients } from './skipped-clients.js';

const PATH = '/panel/api/x/jobs';
const ONE = `${PATH}/{id}`;

const JobId = shape({ id: int().min(1).example(1) });
const StartedReply = shape({
  id: nullable(int().min(1)).description('of the job; null after a dry run'),
  total: int().min(0).description('clients that match, and emails that no client has'),
  unknown: int().min(0).description('emails that no client has'),
  sample: list(text()).description('emails of the first ones'),
});

const answer = (started: Started) =>
  withMessage(
    started.id === null
      ? `${started.total - started.unknown} clients match`
      : `job ${started.id} for ${started.total} clients started`,
    started,
  );

interface Needs {
  readonly service: JobService;
  readonly store: JobStore;
  readonly skipped: SkippedClients;
}

export const routes = ({ service, store, skipped }: Needs): Route[] => [
  route({
    method: 'POST',
    path: PATH,
    name: 'bulkJobs.start',
    doc: 'Starts a job that does one thing to all clients of a filter, or to those with these emails. It replies at once; see the job, or `client_jobs` of the live stream, for how far it is. A key that is not described is refused.',
    body: JobBody,
    bodyLimit: LIST_BODY,
    reply: payload(StartedReply),
    errors: [errors.WHOM, errors.UNKNOWN_EXCEPTION, errors.TOO_MANY, clientErrors.NOTHING_TO_ADJUST],
    handle: async (input) => {
      const request = await requestOf(input.body);
      return answer(await once<Started>(input, (note) => service.start(request, input.who, note)));
    },
  }),
  route({
    method: 'GET',
    path: PATH,
    name: 'bulkJobs.list',
    doc: 'All jobs, the newest first.',
    reply: payload(list(JobReply)),
    handle: () => store.all().reverse().map(replyOf),
  }),
  route({
    method: 'GET',
    path: ONE,
    name: 'bulkJobs.get',
    doc: 'One job, with its filter.',
    params: JobId,
    reply: payload(JobDetail),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { id } }) => {
      const job = store.find(id);
      return { ...replyOf(job), filter: (await store.filterOf(id)) ?? null };
    },
  }),
  route({
    method: 'GET',
    path: `${ONE}/skipped`,
    name: 'bulkJobs.skipped',
    doc: 'Clients that the job did not change, each with the reason, in the order in which they were met.',
    params: JobId,
    query: shape({
      page: withDefault(int().min(1).max(1_000_000), 1),
      pageSize: withDefault(int().min(1).max(1_000), 100),
    }),
    reply: payload(shape({ total: int().min(0), items: list(SkippedReply) })),
    errors: [errors.NOT_FOUND],
    handle: async ({ params: { id }, query: { page, pageSize } }) => {
      const { listed } = store.find(id);
      const after = (page - 1) * pageSize;
      return { total: listed, items: await skipped.page(id, after, Math.min(after + pageSize, listed)) };
    },
  }),
  route({
    method: 'GET',
    path: `${ONE}/skipped.csv`,
    name: 'bulkJobs.skippedCsv',
    doc: 'The same clients as CSV, safe to open in a spreadsheet: a text that begins like a formula has an apostrophe before it.',
    params: JobId,
    reply: stream('text/csv; charset=utf-8'),
    errors: [errors.NOT_FOUND],
    handle: ({ params: { id } }) => {
      const { listed } = store.find(id);
      return { fileName: `job-${id}-skipped.csv`, body: () => skippedCsv(skipped, id, listed) };
    },
  }),
  route({
    method: 'POST',
    path: `${ONE}/stop`,
    name: 'bulkJobs.stop',
    doc: 'Stops a job after the portion that it is at. What is done stays; what is not begun is left for a retry.',
    params: JobId,
    reply: payload(JobReply),
    errors: [errors.NOT_FOUND, errors.ENDED],
    handle: async ({ params: { id }, who }) => replyOf(await service.stop(id, who)),
  }),
  route({
    method: 'POST',
    path: `${ONE}/retry`,
    name: 'bulkJobs.retry',
    doc: 'Starts a job for the clients that an ended one skipped, failed with, or had not begun: the same action, and the same filter.',
    params: JobId,
    reply: payload(StartedReply),
    errors: [errors.NOT_FOUND, errors.NOT_ENDED, errors.NOTHING_LEFT, errors.TOO_MANY],
    handle: async (input) =>
      answer(await once<Started>(input, (note) => service.retry(input.params.id, input.who, note))),
  }),
];
