// How plugins declare accounts: the core's message, its fields, and where the users of an inbound are stored.
import type { AccountValue, CoreAccount, Json, JsonObject } from '../driver.js';

/** One field of an account. */
export interface AccountField {
  /** Values are text, and for `bytes` standard base64; numbers for int and uint, at most 2^53 − 1; true or false for `bool`; a name among `values` for `enum`. */
  readonly type: 'string' | 'bytes' | 'bool' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'enum';
  /** The numbers of an enum, by the names that accounts and the core's JSON config use. */
  readonly values?: Readonly<Record<string, number>>;
  /** Key in the user's entry of the core's JSON config; the field's name without it. */
  readonly json?: string;
  /** An account may lack this text or these bytes: then the core gets none. */
  readonly mayMiss?: true;
  /** Returns the value in the user's entry of the core's JSON config, where that is not the account's own; undefined leaves the key out. Called for every user at a start. */
  toJson?(value: AccountValue): Json | undefined;
  /** The core keeps this text in lower case. */
  readonly lowerCase?: true;
}

interface AnyAccountType {
  /** Value of `protocol` in a `CoreInbound` and in its accounts. */
  readonly name: string;
  /** The protocol in the core's JSON config; `name` without it. */
  readonly protocol?: string;
  /** Full name of the message that the core makes of the inbound's settings, e.g. `xray.proxy.socks.ServerConfig`. */
  readonly inboundType: string;
  /** Key of the list of users in the inbound's `settings`; `clients` without it. */
  readonly list?: string;
  /** Key of the user's name in an entry of that list; `email` without it. The core counts bytes by this name. */
  readonly nameKey?: string;
  /** Returns a mistake in an account that the core would find too late or never; undefined when there is none. Types of fields are checked before. Called for every user at a start. */
  fault?(account: CoreAccount): string | undefined;
}

/** Users that the core adds and removes by its API, one by one; other users are not affected. */
export interface ApiAccountType extends AnyAccountType {
  readonly users: 'api';
  /** Full name of the account's message, e.g. `xray.proxy.trojan.Account`. */
  readonly message: string;
  /** The fields of an account beside `protocol`, with their numbers in the message. An account has all of them and no other. */
  readonly fields: Readonly<Record<string, AccountField & { readonly number: number }>>;
  /** Number of the repeated `xray.common.protocol.User` field in the inbound's message. */
  readonly usersField: number;
  /** Keys of the inbound's `settings` that are left out: they would fill absent fields of users in the config only, and a user added by the API would not get them. */
  readonly omit?: readonly string[];
  /** The core accepts a second user of the same name, and the credentials of the first stay valid. */
  readonly admitsTwins?: true;
  /** Returns fields of a placeholder account with new random credentials. For an inbound that accepts no users later when its config has none. */
  nobody?(settings: JsonObject): Readonly<Record<string, AccountValue>>;
}

/** Users that exist only in the inbound's config. The engine replaces the inbound when they change. */
export interface ConfigAccountType extends AnyAccountType {
  readonly users: 'config';
  /** The fields of an account beside `protocol`. An account has all of them and no other. */
  readonly fields: Readonly<Record<string, AccountField>>;
  /** Returns fields of a placeholder account with new random credentials. It is always in the list: with an empty list many protocols accept everybody. */
  nobody(settings: JsonObject): Readonly<Record<string, AccountValue>>;
}
export type AccountType = ApiAccountType | ConfigAccountType;

const MOST_FIELDS = 50;
const MOST_VALUES = 1000;
const LONGEST = 200;
/** An enum is an int32 on the wire: a larger number would arrive as another one (protobuf.dev, "Language Guide (proto 3)"). */
const isEnumNumber = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) === (Number(value) | 0);
/** Valid field numbers, without those that protobuf reserves (protobuf.dev, "Assigning Field Numbers"). */
const isFieldNumber = (value: unknown): boolean =>
  Number.isInteger(value) &&
  Number(value) >= 1 &&
  Number(value) < 2 ** 29 &&
  !(Number(value) >= 19_000 && Number(value) < 20_000);
const isWord = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST && /^(?!__proto__$)[\w.+-]+$/.test(value);
const isMessage = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST && /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value);
const TYPES = ['string', 'bytes', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'enum'];

function fieldProblem(name: string, field: unknown, numbered: boolean): string | undefined {
  if (!isWord(name) || name === 'protocol') return `${name} cannot be the name of a field`;
  if (typeof field !== 'object' || field === null) return `${name} must be an object`;
  const { type, values, json, number, toJson } = field as Readonly<Record<string, unknown>>;
  if (toJson !== undefined && typeof toJson !== 'function') return `toJson of ${name} must be a function`;
  if (!TYPES.includes(type as string)) return `the type of ${name} must be one of ${TYPES.join(', ')}`;
  if (json !== undefined && !isWord(json)) return `json of ${name} must be a word`;
  if (numbered && !isFieldNumber(number)) return `${name} needs its number in the message`;
  if (type !== 'enum') return undefined;
  const numbers = typeof values === 'object' && values !== null ? Object.values(values) : [];
  return numbers.length > 0 && numbers.length <= MOST_VALUES && numbers.every(isEnumNumber)
    ? undefined
    : `${name} needs values: whole numbers of 32 bits by name`;
}

/** Returns the reason why an account type cannot be used. */
export function accountTypeProblem(type: AccountType): string | undefined {
  const given = type as unknown as Readonly<Record<string, unknown>>;
  const { name, users, fields } = given;
  if (!isWord(name)) return 'an account type needs a name';
  const problem = ((): string | undefined => {
    if (users !== 'api' && users !== 'config') return 'users must be api or config';
    for (const key of ['protocol', 'list', 'nameKey'])
      if (given[key] !== undefined && !isWord(given[key])) return `${key} must be a word`;
    if (!isMessage(given['inboundType'])) return 'inboundType must be the full name of a message';
    for (const key of ['fault', 'nobody'])
      if (given[key] !== undefined && typeof given[key] !== 'function') return `${key} must be a function`;
    if (users === 'config' && given['nobody'] === undefined) return 'it needs a function nobody';
    if (users === 'api') {
      if (!isMessage(given['message'])) return 'message must be the full name of a message';
      if (!isFieldNumber(given['usersField'])) return 'usersField must be the number of a field';
      if (given['omit'] !== undefined && !(Array.isArray(given['omit']) && given['omit'].every(isWord)))
        return 'omit must be a list of keys';
    }
    if (typeof fields !== 'object' || fields === null) return 'fields must be an object';
    const entries = Object.entries(fields);
    if (entries.length === 0 || entries.length > MOST_FIELDS) return `it needs 1 to ${MOST_FIELDS} fields`;
    for (const [key, field] of entries) {
      const found = fieldProblem(key, field, users === 'api');
      if (found !== undefined) return found;
    }
    return clash(type);
  })();
  return problem && `the account type ${String(name)}: ${problem}`;
}

function clash(type: AccountType): string | undefined {
  const keys = [...jsonKeys(type), ...(type.users === 'api' ? ['level'] : [])];
  const twice = keys.find((key, at) => keys.indexOf(key) !== at);
  if (twice !== undefined) return `two values would have the key ${twice} in the core's config`;
  const numbers = Object.values(type.fields).map((field) => ('number' in field ? field.number : undefined));
  const same = numbers.find((number, at) => number !== undefined && numbers.indexOf(number) !== at);
  return same === undefined ? undefined : `two fields have the number ${same}`;
}

/** Keys of a user's entry in the core's JSON config, the name first. */
function jsonKeys({ nameKey = 'email', fields }: AccountType): string[] {
  return [nameKey, ...Object.entries(fields).map(([name, { json = name }]) => json)];
}

const LONGEST_VALUE = 64 * 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
};

function valueProblem(name: string, { type, values }: AccountField, value: AccountValue): string | undefined {
  if (type === 'bool') return typeof value === 'boolean' ? undefined : `${name} must be true or false`;
  const range = RANGES[type];
  if (range)
    return Number.isInteger(value) && Number(value) >= range[0] && Number(value) <= range[1]
      ? undefined
      : `${name} must be a whole number from ${range[0]} to ${range[1]}`;
  if (typeof value !== 'string') return `${name} must be text`;
  if (value.length > LONGEST_VALUE) return `${name} must have at most ${LONGEST_VALUE} characters`;
  if (type === 'enum')
    return Object.hasOwn(values ?? {}, value)
      ? undefined
      : `${name} must be one of ${Object.keys(values ?? {}).join(', ')}`;
  if (type === 'bytes') return BASE64.test(value) ? undefined : `${name} must be base64`;
  return /\p{Cs}/u.test(value) ? `${name} must be well-formed Unicode` : undefined;
}

/** Made once: a start asks for them three times for each user. */
const entries = new WeakMap<AccountType['fields'], [name: string, field: AccountField][]>();
function entriesOf({ fields }: AccountType): readonly [name: string, field: AccountField][] {
  let found = entries.get(fields);
  if (!found) entries.set(fields, (found = Object.entries(fields)));
  return found;
}

/** Returns the reason why an account is not valid for this type; `fault` of the type is called last. */
export function accountProblem(type: AccountType, account: CoreAccount): string | undefined {
  for (const [name, field] of entriesOf(type)) {
    const value = Object.hasOwn(account, name) ? account[name] : undefined;
    if (value === undefined && field.mayMiss) continue;
    if (value === undefined) return `${name} is missing`;
    const found = valueProblem(name, field, value);
    if (found !== undefined) return found;
  }
  for (const name in account)
    if (name !== 'protocol' && !Object.hasOwn(type.fields, name) && Object.hasOwn(account, name))
      return `${type.name} has no field ${name}`;
  return type.fault?.(account);
}

/** The user's entry in the core's JSON config. Level 0 is the one whose traffic is counted. */
export function accountJson(type: AccountType, name: string, account: CoreAccount): JsonObject {
  const entry: Record<string, Json> = { [type.nameKey ?? 'email']: name };
  if (type.users === 'api') entry['level'] = 0;
  for (const [field, { json = field, lowerCase, mayMiss, toJson }] of entriesOf(type)) {
    if (mayMiss && account[field] === undefined) continue;
    const value = account[field] ?? '';
    const shown = toJson ? toJson(value) : value;
    if (shown !== undefined)
      entry[json] = lowerCase && typeof shown === 'string' ? shown.toLowerCase() : shown;
  }
  return entry;
}
