// What is sent to start a job. A job may delete thousands of clients, so nothing in its body is ignored: a misspelt key of
// a filter would mean all of them.
import {
  anything,
  bool,
  describedAs,
  int,
  kernelErrors,
  list,
  oneOf,
  openObject,
  optional,
  shape,
  type Static,
  validateInSlices,
  withDefault,
} from '../../kernel/index.js';
import { BulkParams, ClientFilter, sentEmails } from '../clients/contract.js';
import { errors } from './errors.js';
import { actionNames } from './job-replies.js';

const Request = shape({
  action: oneOf(...actionNames),
  params: withDefault(
    describedAs(openObject(), BulkParams.unknown(false)).description(
      'as the bulk endpoint of the action takes them; setGroup takes group',
    ),
    {},
  ),
  filter: optional(ClientFilter.unknown(false)).description(
    'the clients that list/paged shows with it; {} for all. Unlike there, what is unknown is refused',
  ),
  emails: optional(sentEmails()).description('in place of a filter'),
  except: withDefault(
    shape({
      emails: withDefault(sentEmails(), []),
      ids: withDefault(list(int().min(1)).max(10_000), []),
    }).unknown(false),
    { emails: [], ids: [] },
  ).description('clients that are left out'),
  dryRun: withDefault(bool(), false).description('only says how many clients match'),
}).unknown(false);
export type JobRequest = Static<typeof Request>;

/** As the reference shows it; the handler checks it whole. */
export const JobBody = describedAs(anything(), Request).example({
  action: 'adjust',
  params: { addDays: 30 },
  filter: { group: 'family' },
});

/** A copy of such an object would inherit what was sent. */
const PROTOTYPE = '__proto__';
function refusePrototype(sent: unknown, at = ''): void {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return;
  const path = at + PROTOTYPE;
  if (Object.hasOwn(sent, PROTOTYPE)) throw kernelErrors.INVALID(`${path} is not allowed`, { path });
  for (const [key, part] of Object.entries(sent)) refusePrototype(part, `${at}${key}.`);
}

export async function requestOf(body: unknown): Promise<JobRequest> {
  refusePrototype(body);
  const request = await validateInSlices(Request, body, { closed: true });
  if ((request.filter === undefined) === (request.emails === undefined))
    throw errors.WHOM(undefined, { path: request.filter ? 'emails' : 'filter' });
  return request;
}
