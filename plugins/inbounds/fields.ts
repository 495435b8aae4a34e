// The fields of an inbound, each declared once: column, schema, initial value, and where it is shown. A new field needs a line here and a migration.
import Joi from 'joi';
import {
  type Annotation,
  annotate,
  bool,
  column,
  type Column,
  type Field,
  Fields,
  type FieldTable,
  field,
  int,
  jsonObject,
  lenientInt,
  lenientText,
  nullable,
  oneOf,
  openObject,
  type Schema,
  type Values,
  word,
} from '../../kernel/index.js';

type Json = Record<string, unknown>;
type Cause = 'quota' | 'expiry';

/** Bytes, Unix ms and the like: safe integers from zero. */
export const amount = () => lenientInt().min(0);
const SHARE = ['node', 'listen', 'custom'] as const;
const RESETS = ['never', 'hourly', 'daily', 'weekly', 'monthly'] as const;
/** Programs send these where they have no value: the field is as if it was left out. */
const NOTHING = Joi.valid('', 0, null);
/** The same for an id that may be null. */
const NO_ID = Joi.valid('', 0, '0');
/** In the JSON texts that hold no clients. */
const SEPARATORS = 20_000;

// An IP address, a host name, nothing for all addresses, or a Unix socket: a path, perhaps with its mode, or an abstract
// name. core-guard says where paths may lie.
const listen = lenientText()
  .max(255)
  .pattern(
    /^(?:[A-Za-z0-9.:_-]*|@@?[A-Za-z0-9._-]+|\/[A-Za-z0-9._/-]+(?:,0?[0-7]{3})?)$/,
    'address or Unix socket',
  )
  .description('address to listen on, empty for all; or a Unix socket: /path, /path,0660 or @name');
const shareAddr = lenientText()
  .max(255)
  .pattern(/^[A-Za-z0-9.:_[\]-]*$/, 'address');
// Links contain it, and cannot hold control characters and halves of surrogate pairs.
const remark = lenientText()
  .max(255)
  .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');
const tag = lenientText()
  .max(128)
  .pattern(/^[^\p{Cc}\p{Cs}\s>]*$/u, 'tag without spaces');

/** What a field of an inbound says beside column, schema and initial value. */
interface Shown {
  /** schema of the value, where callers do not send it or send it in other forms */
  readonly value?: Schema;
  /** replies do not have it */
  readonly hidden?: true;
  /** the choice of inbounds (`options`) has it */
  readonly option?: true;
}

/** Where forms show a field. Another value of most costs nothing. */
const GENERAL: Annotation = { section: 'General', level: 'basic', change: 'none' };
const ADDRESS: Annotation = { section: 'Address', level: 'basic', change: 'replace' };
const LIMITS: Annotation = { section: 'Limits', level: 'basic', change: 'none' };
const LINKS: Annotation = { section: 'Links', level: 'advanced', change: 'none' };

export const inboundFields = {
  enable: field({
    column: column.bool(),
    schema: annotate(bool(), { ...GENERAL, change: 'replace' }),
    initial: true,
    option: true,
  }),
  remark: field({ column: column.text(), schema: annotate(remark, GENERAL), initial: '', option: true }),
  listen: field({ column: column.text(), schema: annotate(listen, ADDRESS), initial: '', option: true }),
  port: field({
    column: column.integer(),
    schema: annotate(int().min(0).max(65_535), ADDRESS),
    initial: 0,
    option: true,
  }),
  protocol: field({
    column: column.text(),
    schema: annotate(word().max(32), { ...GENERAL, change: 'replace' }),
    initial: '',
    option: true,
  }),
  tag: field({
    column: column.text(),
    schema: annotate(tag, { ...ADDRESS, level: 'advanced', generated: true }),
    initial: '',
    option: true,
  }),
  expiryTime: field({
    column: column.integer(),
    schema: annotate(amount(), { ...LIMITS, unit: 'Unix ms' }).description('Unix ms; 0 for never'),
    initial: 0,
  }),
  total: field({
    column: column.integer(),
    schema: annotate(amount(), { ...LIMITS, unit: 'bytes' }).description('bytes; 0 for no limit'),
    initial: 0,
  }),
  disableFlow: field({ column: column.bool(), schema: annotate(bool(), LINKS), initial: false }),
  shareAddr: field({
    column: column.text(),
    schema: annotate(shareAddr, {
      ...LINKS,
      title: 'Address in links',
      when: { field: 'shareAddrStrategy', is: ['custom'] },
    }),
    initial: '',
    option: true,
  }),
  shareAddrStrategy: field({
    column: column.text<(typeof SHARE)[number]>(),
    schema: annotate(oneOf(...SHARE).empty(NOTHING), { ...LINKS, title: 'Which address links have' }),
    initial: 'node',
    option: true,
  }),
  subSortIndex: field({
    column: column.integer(),
    schema: annotate(int().min(1).empty(NOTHING), { ...LINKS, title: 'Place in subscriptions' }),
    initial: 1,
  }),
  trafficReset: field({
    column: column.text<(typeof RESETS)[number]>(),
    schema: annotate(oneOf(...RESETS).empty(NOTHING), LIMITS).description(
      'when its counters and those of its clients restart at zero',
    ),
    initial: 'never',
  }),
  trafficResetDay: field({
    column: column.integer(),
    schema: annotate(int().min(1).max(31).empty(NOTHING), {
      ...LIMITS,
      when: { field: 'trafficReset', is: ['monthly'] },
    }).description('day of a monthly reset; in a shorter month, the last day'),
    initial: 1,
  }),
  settings: field({
    column: column.json<Json>(),
    schema: jsonObject().empty(null),
    value: openObject(),
    initial: (): Json => ({}),
  }),
  streamSettings: field({
    column: column.json<Json>(),
    schema: jsonObject(SEPARATORS).empty(null),
    value: openObject(),
    initial: (): Json => ({}),
  }),
  sniffing: field({
    column: column.json<Json>(),
    schema: jsonObject(SEPARATORS).empty(null),
    value: openObject(),
    initial: (): Json => ({}),
  }),
  lastTrafficResetTime: field({ column: column.integer(), value: amount(), initial: 0 }),
  depletedCause: field({
    column: column.optionalText<Cause>(),
    value: nullable(oneOf('quota', 'expiry')).description(
      'the limit that disabled it; null when none did',
    ) as Schema<Cause | null>,
    initial: null,
  }),
  nodeId: field({
    column: column.optionalInteger(),
    schema: annotate(nullable(int().min(1).empty(NO_ID)), ADDRESS).description(
      'id of the node that runs it; null: this machine. 0 and blank are as if it was not sent',
    ) as Schema<number | null>,
    value: nullable(int()),
    initial: null,
    option: true,
  }),
  originGuid: field({
    column: column.text(),
    value: lenientText()
      .max(64)
      .description('guid of the panel below the node that runs it; empty: the node itself does'),
    initial: '',
    hidden: true,
  }),
  countedSince: field({
    column: column.integer(),
    value: amount().description('Unix ms from which the present period of trafficReset counts'),
    initial: 0,
    hidden: true,
  }),
} satisfies FieldTable & Readonly<Record<string, Shown>>;
type Declared = typeof inboundFields;

export interface Inbound extends Readonly<Values<Declared>> {
  readonly id: number;
}
type NamesWith<Mark> = { [K in keyof Declared]: Declared[K] extends Mark ? K : never }[keyof Declared];
export type HiddenName = NamesWith<{ readonly hidden: true }>;
type OptionName = NamesWith<{ readonly option: true }>;
type JsonName = NamesWith<{ readonly column: Column<Json> }>;
type ValueSchemas = {
  readonly [K in keyof Declared]: Declared[K] extends { readonly value: infer S }
    ? S
    : Declared[K] extends { readonly schema: infer S }
      ? S
      : never;
};

const entries = Object.entries(inboundFields) as unknown as [keyof Declared, Field<unknown> & Shown][];
const namesOf = <K extends keyof Declared>(has: (of: Field<unknown> & Shown) => boolean): readonly K[] =>
  entries.filter(([, of]) => has(of)).map(([name]) => name as K);

export const inboundRecord = new Fields(inboundFields);
/** Schemas of the values as they are kept and shown. */
export const valueSchemas = Object.fromEntries(
  entries.map(([name, { value, schema }]) => [name, value ?? schema]),
) as unknown as ValueSchemas;
export const hiddenNames = namesOf<HiddenName>(({ hidden }) => hidden === true);
export const optionNames = namesOf<OptionName>(({ option }) => option === true);
/** Objects of any size, which lists leave out. */
export const jsonNames = namesOf<JsonName>(({ column }) => column.kind === 'json');

/** Some of the fields of an object. */
export const pick = <T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
/** An object without some of its fields. */
export const without = <T extends object, K extends keyof T>(from: T, names: readonly K[]): Omit<T, K> => {
  const rest = { ...from };
  for (const name of names) delete rest[name];
  return rest;
};
