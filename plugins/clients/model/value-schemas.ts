// Schemas of single values of a client: names, texts and amounts.
import {
  bool,
  custom,
  describedAs,
  int,
  lenientInt,
  lenientText as text,
  nullable,
  oneOf,
  openObject,
  optional,
  type Schema,
  shape,
  word,
} from '../../../kernel/index.js';
import { OWN_OUTBOUNDS } from '../../engine/contract.js';
import Joi from 'joi';

export { bool, int };

// Emails and subscription ids are part of paths and of files of client programs.
// A segment of dots alone is a step in a path, even escaped. Half a surrogate pair has no UTF-8.
const NAME = /^(?!\.{1,2}$)[^\s/\\\p{Cc}\p{Cs}]+$/u;
const NAME_RULE = 'text without spaces, slashes and control characters';
/** Of an outbound: rules of the core name it. */
const TAG = /^[^\p{Cc}\p{Cs}\s,>]+$/u;
const allowTrim = { convert: true } as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Literal path segments of the API: a client with such a name could not be addressed. */
const RESERVED = new Set([
  'list',
  'get',
  'add',
  'update',
  'del',
  'export',
  'import',
  'groups',
  'onlines',
  'traffic',
  'links',
  'sublinks',
  'applink',
  'bulkcreate',
  'bulkadjust',
  'bulkenable',
  'bulkdisable',
  'bulkdel',
  'bulkattach',
  'bulkdetach',
  'bulkresettraffic',
  'resetalltraffics',
  'resettraffic',
  'updatetraffic',
  'deldepleted',
  'delorphans',
  'ips',
  'clearips',
  'hwids',
  'lastonline',
  'activeinbounds',
  'onlinesbyguid',
  'clientipsbyguid',
]);

export const nonNegative = () => int().min(0);
/** The same for fields of a client: programs send these numbers also as text, and nothing as blank or null. */
export const fieldInt = lenientInt;
export const fieldAmount = () => lenientInt().min(0);
export const identifier = () => text().trim().max(255).pattern(NAME, NAME_RULE);
export const line = () =>
  text().pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
/** Group of a client, as routes of groups take names: blanks around it would make a group that they cannot reach. */
export const groupOrNone = () => line().trim().max(255);
/** Name of a group: one line with at least one character. */
export const groupName = () =>
  word()
    .trim()
    .prefs(allowTrim)
    .max(255)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
export const paragraphs = () =>
  text().pattern(/^(?:[^\p{Cc}\p{Cs}]|[\t\r\n])*$/u, 'text without control characters');
export const uuid = () => text().pattern(UUID, 'UUID');
export const flow = () => text().valid('', 'xtls-rprx-vision', 'xtls-rprx-vision-udp443');

const CIPHERS = ['auto', 'aes-128-gcm', 'chacha20-poly1305'];
/** What older programs send; without a cipher of its own VMess is not safe, so the client program chooses. */
const NO_CIPHER = ['', 'none', 'zero'];
/** The cipher of VMess; older values become `auto`. */
export const vmessCipher = () =>
  custom<string>(
    describedAs(Joi.any(), { type: 'string', enum: [...CIPHERS, ...NO_CIPHER] }).custom(
      (value: unknown, state) => {
        if (NO_CIPHER.includes(value as string)) return 'auto';
        return CIPHERS.includes(value as string)
          ? value
          : state.error('any.custom', { error: new Error(`it must be one of ${CIPHERS.join(', ')}`) });
      },
    ),
  );
export const adTag = () => text().pattern(/^(?:[0-9a-f]{32})?$/i, '32 hexadecimal digits, or blank');
/** Null, or `{ tag, sniffing? }`; unknown keys are kept. */
export const reverse = () =>
  nullable(
    shape({
      tag: word().max(64).pattern(TAG, 'tag without spaces and commas'),
      sniffing: optional(openObject()),
    })
      .unknown(true)
      .custom((value: Record<string, unknown>, state) => {
        const tag = String(value['tag']);
        return OWN_OUTBOUNDS.includes(tag) || tag.startsWith('weir.')
          ? state.error('any.custom', {
              error: new Error(`the outbound ${tag} belongs to the panel; choose another tag`),
            })
          : value;
      }) as Schema<Record<string, unknown>>,
  );

/** When counters start again at zero by themselves. */
const SCHEDULES = ['never', 'hourly', 'daily', 'weekly', 'monthly'] as const;
export type Schedule = (typeof SCHEDULES)[number];
export const schedule = () => oneOf(...SCHEDULES);
/** Many programs send blank for `never`. */
export const scheduleOrBlank = () =>
  custom<Schedule>(
    describedAs(Joi.any(), {
      type: 'string',
      enum: ['', ...SCHEDULES],
    }).custom((value: unknown, state) => {
      if (value === '') return 'never';
      return SCHEDULES.includes(value as Schedule) ? value : state.error('any.only', { valids: SCHEDULES });
    }),
  );
/** Many programs send zero for the first day. */
export const scheduleDay = () =>
  int()
    .min(0)
    .max(31)
    .custom((value: number) => value || 1);

export const email = () =>
  word()
    .trim()
    .prefs(allowTrim)
    .max(255)
    .pattern(NAME, NAME_RULE)
    .custom((value: string, state) =>
      RESERVED.has(value.toLowerCase())
        ? state.error('any.custom', {
            error: new Error(`"${value}" is a word of the API and cannot be a client's name`),
          })
        : value,
    );

/** `id` in the body of a client: many programs send the UUID there. An integer is their own row number, and ignored. */
export const idOrUuid = () =>
  custom<string>(
    describedAs(Joi.any(), {
      anyOf: [
        { enum: ['', null] },
        { type: 'string', format: 'uuid' },
        { type: 'integer', description: 'ignored' },
      ],
    }).custom((value: unknown, state) => {
      if (value === '' || value === null || Number.isSafeInteger(value)) return '';
      return typeof value === 'string' && UUID.test(value)
        ? value
        : state.error('any.custom', { error: new Error('it must be a UUID') });
    }),
  );
