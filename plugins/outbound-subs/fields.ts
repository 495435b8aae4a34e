// The fields of a subscription as programs send and read them: as JSON or as a form, where everything is text.
import {
  anything,
  bool,
  custom,
  describedAs,
  int,
  list,
  openObject,
  optional,
  shape,
  type Static,
  text,
} from '../../kernel/index.js';
import { version } from '../record-versions/contract.js';
import { LONGEST_URL, urlProblem } from './list-fetcher.js';
import { RESERVED } from './tags.js';

const LEAST_INTERVAL = 60;
const MOST_INTERVAL = 30 * 24 * 3600;
export const USUAL_INTERVAL = 600;

/** Reads a value however it was sent; null and blank mean that it was not. */
const read = <T>(description: Readonly<Record<string, unknown>>, reader: (value: unknown) => T) =>
  optional(
    custom<T | undefined>(
      describedAs(anything(), description)
        // joi would keep an allowed null.
        .empty(null)
        .custom((value: unknown, state) => {
          if (value === '') return undefined;
          try {
            return reader(value);
          } catch (error) {
            return state.error('any.custom', { error: error as Error });
          }
        }),
    ),
  );

function flagOf(value: unknown): boolean {
  const said = typeof value === 'object' ? '' : String(value).toLowerCase();
  if (['true', '1', 'on'].includes(said)) return true;
  if (['false', '0', 'off'].includes(said)) return false;
  throw new Error('it must be true or false');
}
function secondsOf(value: unknown): number {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
  if (seconds === 0) return USUAL_INTERVAL;
  if (
    typeof seconds === 'number' &&
    Number.isInteger(seconds) &&
    seconds >= LEAST_INTERVAL &&
    seconds <= MOST_INTERVAL
  )
    return seconds;
  throw new Error(`it must be a number of seconds from ${LEAST_INTERVAL} to ${MOST_INTERVAL}`);
}
function urlOf(value: unknown): string {
  const url = typeof value === 'string' ? value.trim() : '';
  const problem = urlProblem(url);
  if (problem !== undefined) throw new Error(problem);
  return url;
}
function prefixOf(value: unknown): string {
  const prefix = typeof value === 'string' ? value.trim() : '';
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,31}$/u.test(prefix))
    throw new Error(
      'it must have up to 32 letters, digits, dots, hyphens and underscores, and begin with a letter or digit',
    );
  if (prefix.toLowerCase().startsWith(RESERVED))
    throw new Error(`tags that begin with ${RESERVED} belong to the panel`);
  return prefix;
}

const flag = (description: string) => read({ type: 'boolean', description }, flagOf);
const url = () =>
  read(
    {
      type: 'string',
      format: 'uri',
      maxLength: LONGEST_URL,
      description: 'of http or https; a login in it is sent as Basic authorization',
    },
    urlOf,
  );
const fetchFlags = {
  allowPrivate: flag('the list may be at an address that is not public, and so may its servers'),
  allowInsecure: flag('any certificate of the server of the list is taken; it says nothing of the outbounds'),
};
const EXAMPLE_URL = 'https://lists.example/outbounds';

export const SentSub = shape({
  remark: optional(
    text()
      .trim()
      .prefs({ convert: true })
      .max(256)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters'),
  ),
  url: url(),
  enabled: flag('whether its outbounds are in the core'),
  ...fetchFlags,
  tagPrefix: read(
    { type: 'string', description: 'begins the tags; without one, `sub1-`, `sub2-` …' },
    prefixOf,
  ),
  updateInterval: read(
    {
      type: 'integer',
      minimum: LEAST_INTERVAL,
      maximum: MOST_INTERVAL,
      description: `seconds; ${USUAL_INTERVAL} for a new one`,
    },
    secondsOf,
  ),
  prepend: flag(
    'what no rule takes leaves by an outbound of this list, and not by the first one of the template',
  ),
}).example({ remark: 'Exits', url: EXAMPLE_URL, tagPrefix: 'exit-', updateInterval: 3600 });
export type SentSub = Static<typeof SentSub>;
/** Of a new one. */
export const NewSub = SentSub.fork('url', (schema) => schema.required());

export const SentSource = shape({ url: url(), ...fetchFlags })
  .fork('url', (schema) => schema.required())
  .example({ url: EXAMPLE_URL });

/** As long as the reader of links takes them. */
const LONGEST_LINK = 16_384;
export const SentLink = shape({
  link: text().trim().prefs({ convert: true }).min(1).max(LONGEST_LINK).required(),
}).example({ link: 'ss://YWVzLTEyOC1nY206cGFzcw@exit.example:8388#Exit' });
export const LinkReply = shape({
  name: text().description('as the link has it; blank for none'),
  outbound: openObject().description('an outbound of the core, without a tag'),
});

export const SubId = shape({ id: int().min(1).example(1) });
export const SentMove = shape({
  dir: optional(text().max(16).description('`up`; anything else is down')),
}).example({ dir: 'up' });

export const OutboundList = list(openObject()).description('outbounds of the core, with their tags');

export const SubReply = shape({
  id: int(),
  remark: text(),
  url: text(),
  enabled: bool(),
  allowPrivate: bool(),
  allowInsecure: bool(),
  tagPrefix: text(),
  updateInterval: int().description('seconds'),
  priority: int(),
  prepend: bool(),
  lastUpdated: int().description('Unix seconds of the last list that was taken; 0 for none'),
  lastError: text().description('why the last fetch failed, or what of the list is not used'),
  lastFetchedOutbounds: text().description('empty; `refresh` returns the outbounds'),
  createdAt: int().description('Unix ms'),
  updatedAt: int().description('Unix ms'),
  outboundCount: int(),
  outboundTags: list(text()).description('tags of its outbounds, for rules and balancers'),
  defaultOutbound: text().description('tag of the outbound for what no rule takes, if it is of this list'),
  leftOutCount: int().description('entries that are not used'),
  leftOut: list(shape({ name: text(), reason: text() })).description('the first of them'),
  version: version(),
});
