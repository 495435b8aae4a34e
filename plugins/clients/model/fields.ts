// The stored fields of a client, each declared once. Schemas, rows, statements, replies, exports and imports follow
// from here. The README lists the steps that add a field.
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
  adTag,
  bool,
  email,
  fieldAmount as nonNegative,
  fieldInt as int,
  flow,
  groupOrNone,
  line,
  identifier,
  paragraphs,
  reverse,
  schedule,
  scheduleDay,
  scheduleOrBlank,
  type Schedule,
  uuid,
  vmessCipher,
} from './value-schemas.js';

/**
 * What the plugin does with a field, beyond its column. A field with a `schema` is set by callers and is part of
 * replies, exports and imports; one without is written by the panel only.
 */
interface FieldFlags {
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
  /** what must be unique of a value, if not the value itself */
  readonly uniqueKey?: (value: string) => string;
  /** error for a value that another client has; bulk calls cannot set the field, and blank means unchanged or generated */
  readonly uniqueError?: ErrorFactory;
  /** invisible characters are refused in new values */
  readonly refuseHiddenAs?: 'name' | 'label';
  /** a text of which there are few different values: those that are loaded are held once, and not for each client */
  readonly fewValues?: true;
}
const clientField = <T, const F extends Field<T> & FieldFlags>(
  declared: F & { readonly column: Field<T>['column'] },
): F => declared;

/** Unix ms */
const shownTime = () =>
  clientField({ column: column.integer(), initial: 0, inReplies: true, replySchema: nonNegative() });

const RANDOM_POOL = 4096;

/** Case and Unicode composition do not make another client. */
export const emailKey = (address: string): string => address.normalize('NFC').toLowerCase();
/** VLESS ignores the third group of a UUID: two that differ only there are one credential to the core. */
export const vlessKey = (id: string): string => {
  const lower = id.toLowerCase();
  return lower.slice(0, 14) + lower.slice(18);
};

/** Tag of the outbound that a client's reverse tunnel becomes; two clients with one tag would get each other's traffic. */
export function reverseTag(value: Readonly<Record<string, unknown>> | null | undefined): string | undefined {
  const tag = value?.['tag'];
  return typeof tag === 'string' && tag !== '' ? tag : undefined;
}

/** Asking the system for each secret takes 7 µs. Bytes are used once, and wiped then. */
let randomPool = Buffer.alloc(0);
const secret = (bytes: number) => (): string => {
  if (randomPool.length < bytes) randomPool = randomBytes(RANDOM_POOL);
  const text = randomPool.toString('base64url', 0, bytes);
  randomPool.fill(0, 0, bytes);
  randomPool = randomPool.subarray(bytes);
  return text;
};

export const declaredFields = {
  email: clientField({
    column: column.text(),
    schema: email(),
    replySchema: word(),
    initial: '',
    keys: { email_key: emailKey },
    uniqueKey: emailKey,
    inTraffic: true,
    searched: true,
    uniqueError: errors.EMAIL_TAKEN,
    refuseHiddenAs: 'name',
  }),
  subId: clientField({
    column: column.text(),
    schema: identifier(),
    initial: secret(12),
    keys: { sub_key: (value: string) => value },
    inTraffic: true,
    searched: true,
    uniqueError: errors.SUB_ID_TAKEN,
    refuseHiddenAs: 'name',
  }),
  uuid: clientField({
    column: column.text(),
    schema: uuid(),
    initial: () => randomUUID() as string,
    keys: { vless_key: vlessKey },
    uniqueKey: vlessKey,
    inTraffic: true,
    seenByCore: true,
    searched: true,
    uniqueError: errors.UUID_TAKEN,
  }),
  password: clientField({
    column: column.text(),
    schema: line().max(255),
    initial: secret(18),
    seenByCore: true,
    searched: true,
    uniqueError: errors.PASSWORD_TAKEN,
  }),
  /** of hysteria */
  auth: clientField({
    column: column.text(),
    schema: line().max(255),
    initial: secret(18),
    seenByCore: true,
    searched: true,
    uniqueError: errors.AUTH_TAKEN,
  }),
  flow: clientField({
    column: column.text(),
    schema: flow(),
    initial: '',
    seenByCore: true,
    fewValues: true,
  }),
  /** the cipher of vmess, for entries alone: the core takes what the client program chose */
  security: clientField({
    column: column.text(),
    schema: vmessCipher(),
    initial: 'auto',
    fewValues: true,
  }),
  /** 32 hexadecimal digits: the channel that Telegram shows to users of an MTProto proxy; blank for none */
  adTag: clientField({ column: column.text(), schema: adTag(), initial: '' }),
  /** bytes, despite the name; 0 for no limit */
  totalGB: clientField({
    column: column.integer({ name: 'total_gb' }),
    schema: nonNegative().description('bytes, despite the name; 0 for no limit'),
    initial: 0,
    inTraffic: 'total',
  }),
  /** Unix ms; 0 for never; negative: a duration in ms that starts with the first use */
  expiryTime: clientField({
    column: column.integer(),
    schema: int().description('Unix ms; 0 for never; negative: that many ms from the first use on'),
    initial: 0,
    inTraffic: true,
  }),
  enable: clientField({
    column: column.bool(),
    schema: bool(),
    initial: true,
    inTraffic: true,
    seenByCore: true,
  }),
  /** addresses at once, an IPv6 /64 as one; 0 for no limit. The plugin `addresses` acts on it. */
  limitIp: clientField({ column: column.integer(), schema: nonNegative(), initial: 0 }),
  /** devices; 0 for no limit. The plugin `devices` enforces it when the subscription is fetched. */
  limitHwid: clientField({ column: column.integer(), schema: nonNegative(), initial: 0 }),
  /** messenger id; 0 for none */
  tgId: clientField({ column: column.integer(), schema: nonNegative(), initial: 0, searched: true }),
  /** '' for none */
  group: clientField({
    column: column.text({ name: 'group_name' }),
    schema: groupOrNone(),
    initial: '',
    refuseHiddenAs: 'label',
  }),
  comment: clientField({
    column: column.text(),
    schema: paragraphs().max(4096),
    initial: '',
    searched: true,
  }),
  /** days between renewals; 0 for none. At its expiry the client gets this time again, and its traffic starts at zero. */
  reset: clientField({
    column: column.integer(),
    schema: nonNegative().description('days between renewals; 0 for none'),
    initial: 0,
    inTraffic: true,
  }),
  /** day of the month on which it renews, in a shorter month the last day; 0 for none. It takes precedence over `reset`. */
  resetDay: clientField({
    column: column.integer(),
    schema: int().min(0).max(31).description('day of the month on which it renews; 0 for none'),
    initial: 0,
    inTraffic: true,
  }),
  /** most renewals; 0 for no limit */
  resetMax: clientField({ column: column.integer(), schema: nonNegative(), initial: 0, inTraffic: true }),
  /** when its traffic starts again at zero, whatever its expiry */
  trafficReset: clientField({
    column: column.text<Schedule>(),
    schema: scheduleOrBlank(),
    replySchema: schedule(),
    initial: 'never',
    fewValues: true,
  }),
  /** day of a monthly reset; in a shorter month, the last day */
  trafficResetDay: clientField({
    column: column.integer(),
    schema: scheduleDay().description('day of a monthly reset; in a shorter month, the last day'),
    replySchema: int().min(1).max(31),
    initial: 1,
  }),
  /** `{ tag }`: the client's program may open a reverse tunnel, the outbound of this tag in the core */
  reverse: clientField({
    column: column.optionalJson<Record<string, unknown>>(),
    schema: reverse(),
    initial: null,
    // Null is not unique: most clients have no reverse tunnel.
    keys: { reverse_tag: (value) => reverseTag(value) ?? null },
    seenByCore: true,
  }),
  /** the limit that disabled the client; null when an admin did, or when it is enabled */
  depletedCause: clientField({
    column: column.optionalText<'quota' | 'expiry'>(),
    initial: null,
    fewValues: true,
  }),
  /** Unix ms from which the present period of `trafficReset` counts */
  countedSince: clientField({ column: column.integer(), initial: 0 }),
  /** renewals so far */
  resetCount: clientField({
    column: column.integer(),
    initial: 0,
    replySchema: nonNegative(),
    inTraffic: true,
  }),
  /** bytes on other machines, as the panel that manages this one reported them last; they count for the quota */
  elsewhereUp: clientField({ column: column.integer(), initial: 0 }),
  elsewhereDown: clientField({ column: column.integer(), initial: 0 }),
  createdAt: shownTime(),
  updatedAt: shownTime(),
} as const;

type DeclaredFields = typeof declaredFields;
type Keys<Wanted> = {
  [K in keyof DeclaredFields]: DeclaredFields[K] extends Wanted ? K : never;
}[keyof DeclaredFields];

/** The stored fields of a client and their values. */
export type ClientFields = Values<DeclaredFields>;
/** Fields that callers send. */
export type SentField = Keys<{ readonly schema: Schema }>;
/** Fields of which no two clients may have the same value; a bulk call cannot set them. */
export type UniqueField = Keys<{ readonly uniqueError: ErrorFactory }>;
type ShownField = SentField | Keys<{ readonly inReplies: true }>;
type TrafficField = Keys<{ readonly inTraffic: true | 'total' }>;
type ReplySchema<K extends keyof DeclaredFields> = DeclaredFields[K] extends { readonly replySchema: infer S }
  ? S
  : DeclaredFields[K] extends { readonly schema: infer S }
    ? S
    : never;

export const fields = new Fields(declaredFields);

const entries = Object.entries(declaredFields) as [keyof DeclaredFields, Field<unknown> & FieldFlags][];
const namesWhere = <K extends keyof DeclaredFields>(
  holds: (use: Field<unknown> & FieldFlags) => unknown,
): readonly K[] => entries.filter(([, use]) => holds(use)).map(([name]) => name as K);
const replySchemaOf = (name: keyof DeclaredFields): Schema => {
  const { replySchema, schema } = declaredFields[name] as Field<unknown> & FieldFlags;
  return (replySchema ?? schema) as Schema;
};

export const sentFields = namesWhere<SentField>(({ schema }) => schema);
export const shownFields = namesWhere<ShownField>(({ schema, inReplies }) => schema ?? inReplies);
export const uniqueFields = namesWhere<UniqueField>(({ uniqueError }) => uniqueError);
/** By which the clients in memory are found. */
export const indexedFields = [...uniqueFields, 'group', 'reverse'] as const;
export const coreFields = namesWhere(({ seenByCore }) => seenByCore);
export const fewValued = namesWhere(({ fewValues }) => fewValues);
export const searchedFields = namesWhere(({ searched }) => searched);
/** Names in the traffic record and of the fields that they show. */
export const trafficFields = entries.flatMap(([name, { inTraffic }]) =>
  inTraffic ? [[inTraffic === true ? name : inTraffic, name as TrafficField] as const] : [],
);
export const replySchemas = Object.fromEntries(shownFields.map((name) => [name, replySchemaOf(name)])) as {
  readonly [K in ShownField]: ReplySchema<K>;
};
export const trafficSchemas = Object.fromEntries(
  trafficFields.map(([shownAs, name]) => [shownAs, replySchemaOf(name)]),
) as {
  readonly [K in TrafficField as DeclaredFields[K] extends { readonly inTraffic: infer N extends string }
    ? N
    : K]: ReplySchema<K>;
};

/** What must be unique of a value. */
export function uniqueKey(name: UniqueField, value: string): string {
  const { uniqueKey: keyOf }: FieldFlags = declaredFields[name];
  return keyOf ? keyOf(value) : value;
}

/** Refuses invisible characters in these values; `path` stands before the names of the fields. */
export function refuseHiddenIn(values: Partial<ClientFields>, fieldPrefix: string): void {
  for (const [name, { refuseHiddenAs }] of entries)
    if (refuseHiddenAs) refuseHidden(`${fieldPrefix}${name}`, String(values[name] ?? ''), refuseHiddenAs);
}
