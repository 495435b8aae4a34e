// The stored fields of a client, each declared once. Schemas, rows, statements, replies, exports and imports follow
// from here: a new field needs its line here, a migration and a test.
import { randomBytes, randomUUID } from 'node:crypto';
import {
  column,
  type ErrorFactory,
  type Field,
  Fields,
  refuseHidden,
  type Schema,
  type Values,
  word,
} from '../../../kernel/index.js';
import { errors } from '../errors.js';
import {
  amount,
  bool,
  email,
  flow,
  groupOrNone,
  int,
  jsonOrNull,
  line,
  nameText,
  paragraphs,
  uuid,
} from './value-schemas.js';

/**
 * What the plugin does with a field, beyond its column. A field with a `schema` is set by callers and is part of
 * replies, exports and imports; one without is written by the panel only.
 */
interface Use {
  /** schema in replies: for what callers do not send, and where stored values may break the rules of new ones */
  readonly replySchema?: Schema;
  /** is shown in replies although callers do not send it */
  readonly inReplies?: true;
  /** is in the traffic record, under this name if it is a text */
  readonly inTraffic?: true | 'total';
  /** the core must be updated when it changes */
  readonly seenByCore?: true;
  /** is searched by the paged list; 0 and blank match nothing */
  readonly searched?: true;
  /** error for a value that another client has; bulk calls cannot set the field, and blank means unchanged or generated */
  readonly taken?: ErrorFactory;
  /** invisible characters are refused in new values */
  readonly visible?: 'name' | 'label';
}
const field = <T, const F extends Field<T> & Use>(declared: F & { readonly column: Field<T>['column'] }): F =>
  declared;

/** Case and Unicode composition do not make another client. */
export const emailKey = (address: string): string => address.normalize('NFC').toLowerCase();
/** VLESS ignores the third group of a UUID: two that differ only there are one credential to the core. */
export const vlessKey = (id: string): string => {
  const lower = id.toLowerCase();
  return lower.slice(0, 14) + lower.slice(18);
};

const secret = (bytes: number) => (): string => randomBytes(bytes).toString('base64url');

export const clientFields = {
  email: field({
    column: column.text(),
    schema: email(),
    replySchema: word(),
    initial: '',
    keys: { email_key: emailKey },
    inTraffic: true,
    searched: true,
    taken: errors.EMAIL_TAKEN,
    visible: 'name',
  }),
  subId: field({
    column: column.text(),
    schema: nameText(),
    initial: secret(12),
    inTraffic: true,
    searched: true,
    taken: errors.SUB_ID_TAKEN,
    visible: 'name',
  }),
  uuid: field({
    column: column.text(),
    schema: uuid(),
    initial: () => randomUUID() as string,
    keys: { vless_key: vlessKey },
    inTraffic: true,
    seenByCore: true,
    searched: true,
    taken: errors.UUID_TAKEN,
  }),
  password: field({
    column: column.text(),
    schema: line().max(255),
    initial: secret(18),
    seenByCore: true,
    searched: true,
    taken: errors.PASSWORD_TAKEN,
  }),
  flow: field({ column: column.text(), schema: flow(), initial: '', seenByCore: true }),
  /** bytes, despite the name; 0 for no limit */
  totalGB: field({
    column: column.integer({ name: 'total_gb' }),
    schema: amount().description('bytes, despite the name; 0 for no limit'),
    initial: 0,
    inTraffic: 'total',
  }),
  /** Unix ms; 0 for never; negative: a duration in ms that starts with the first use */
  expiryTime: field({
    column: column.integer(),
    schema: int().description('Unix ms; 0 for never; negative: that many ms from the first use on'),
    initial: 0,
    inTraffic: true,
  }),
  enable: field({
    column: column.bool(),
    schema: bool(),
    initial: true,
    inTraffic: true,
    seenByCore: true,
  }),
  /** addresses at once; 0 for no limit */
  limitIp: field({ column: column.integer(), schema: amount(), initial: 0 }),
  /** devices; 0 for no limit */
  limitHwid: field({ column: column.integer(), schema: amount(), initial: 0 }),
  /** messenger id; 0 for none */
  tgId: field({ column: column.integer(), schema: amount(), initial: 0, searched: true }),
  /** '' for none */
  group: field({
    column: column.text({ name: 'group_name' }),
    schema: groupOrNone(),
    initial: '',
    visible: 'label',
  }),
  comment: field({ column: column.text(), schema: paragraphs().max(4096), initial: '', searched: true }),
  /** days between renewals; 0 for none */
  reset: field({
    column: column.integer(),
    schema: amount().description('days'),
    initial: 0,
    inTraffic: true,
  }),
  /** day of the month on which it renews; 0 for none */
  resetDay: field({ column: column.integer(), schema: int().min(0).max(31), initial: 0, inTraffic: true }),
  /** most renewals; 0 for no limit */
  resetMax: field({ column: column.integer(), schema: amount(), initial: 0, inTraffic: true }),
  reverse: field({
    column: column.optionalJson<Record<string, unknown>>(),
    schema: jsonOrNull(),
    initial: null,
  }),
  /** the limit that disabled the client; null when an admin did, or when it is enabled */
  depletedCause: field({ column: column.optionalText<'quota' | 'expiry'>(), initial: null }),
  /** renewals so far */
  resetCount: field({
    column: column.integer(),
    initial: 0,
    replySchema: amount(),
    inTraffic: true,
  }),
  /** Unix ms */
  createdAt: field({ column: column.integer(), initial: 0, inReplies: true, replySchema: amount() }),
  /** Unix ms */
  updatedAt: field({ column: column.integer(), initial: 0, inReplies: true, replySchema: amount() }),
} as const;

type Table = typeof clientFields;
type Keys<Wanted> = { [K in keyof Table]: Table[K] extends Wanted ? K : never }[keyof Table];

/** The stored fields of a client and their values. */
export type ClientFields = Values<Table>;
/** Fields that callers send. */
export type SentField = Keys<{ readonly schema: Schema }>;
/** Fields of which no two clients may have the same value; a bulk call cannot set them. */
export type UniqueField = Keys<{ readonly taken: ErrorFactory }>;
export type BulkFields = Omit<ClientFields, UniqueField>;
type ShownField = SentField | Keys<{ readonly inReplies: true }>;
type TrafficField = Keys<{ readonly inTraffic: true | 'total' }>;
type ReplySchema<K extends keyof Table> = Table[K] extends { readonly replySchema: infer S }
  ? S
  : Table[K] extends { readonly schema: infer S }
    ? S
    : never;

export const fields = new Fields(clientFields);

const uses = Object.entries(clientFields) as [keyof Table, Field<unknown> & Use][];
const namesWhere = <K extends keyof Table>(holds: (use: Field<unknown> & Use) => unknown): readonly K[] =>
  uses.filter(([, use]) => holds(use)).map(([name]) => name as K);
const replySchemaOf = (name: keyof Table): Schema => {
  const { replySchema, schema } = clientFields[name] as Field<unknown> & Use;
  return (replySchema ?? schema) as Schema;
};

export const sentFields = namesWhere<SentField>(({ schema }) => schema);
export const shownFields = namesWhere<ShownField>(({ schema, inReplies }) => schema ?? inReplies);
export const uniqueFields = namesWhere<UniqueField>(({ taken }) => taken);
export const coreFields = namesWhere(({ seenByCore }) => seenByCore);
export const searchedFields = namesWhere(({ searched }) => searched);
/** Names in the traffic record and of the fields that they show. */
export const trafficFields = uses.flatMap(([name, { inTraffic }]) =>
  inTraffic ? [[inTraffic === true ? name : inTraffic, name as TrafficField] as const] : [],
);
export const replySchemas = Object.fromEntries(shownFields.map((name) => [name, replySchemaOf(name)])) as {
  readonly [K in ShownField]: ReplySchema<K>;
};
export const trafficSchemas = Object.fromEntries(
  trafficFields.map(([shownAs, name]) => [shownAs, replySchemaOf(name)]),
) as {
  readonly [K in TrafficField as Table[K] extends { readonly inTraffic: infer N extends string }
    ? N
    : K]: ReplySchema<K>;
};

/** What must be unique of a value: its key column, where it has one. */
export function uniqueKey(name: UniqueField, value: string): string {
  const { keys = {} }: Field<string> = clientFields[name];
  return Object.values(keys)[0]?.(value) ?? value;
}

/** Refuses invisible characters in these values; `path` stands before the names of the fields. */
export function refuseHiddenIn(values: Partial<ClientFields>, path: string): void {
  for (const [name, { visible }] of uses)
    if (visible) refuseHidden(`${path}${name}`, String(values[name] ?? ''), visible);
}
