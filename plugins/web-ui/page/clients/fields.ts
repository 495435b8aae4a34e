// The fields of a client as they are typed in a form, and what of them was changed.
import type { ClientsGetReply, ClientsUpdateInput } from '../../../../sdk/index.js';
import { bytesOfTyped, latinDigits, typedBytes, type Units } from '../format/bytes.js';

/** All as texts, so that nothing that was typed is lost. */
export interface Typed {
  readonly email: string;
  /** in GiB or GB; blank: no limit */
  readonly quota: string;
  /** Unix ms as a text; blank: never; with a minus: so many ms from the first use on */
  readonly expiry: string;
  readonly limitIp: string;
  readonly limitHwid: string;
  readonly group: string;
  readonly comment: string;
  /** days between renewals; blank: none */
  readonly reset: string;
  readonly tgId: string;
}
export type TypedField = keyof Typed;
type Body = NonNullable<ClientsUpdateInput['body']>;
type Stored = Pick<
  ClientsGetReply,
  'email' | 'totalGB' | 'expiryTime' | 'limitIp' | 'limitHwid' | 'group' | 'comment' | 'reset' | 'tgId'
>;

const numberOrBlank = (value: number): string => (value === 0 ? '' : String(value));

export const typedOf = (client: Stored, units: Units): Typed => ({
  email: client.email,
  quota: typedBytes(client.totalGB, units),
  expiry: numberOrBlank(client.expiryTime),
  limitIp: numberOrBlank(client.limitIp),
  limitHwid: numberOrBlank(client.limitHwid),
  group: client.group,
  comment: client.comment,
  reset: numberOrBlank(client.reset),
  tgId: numberOrBlank(client.tgId),
});

/** A whole number as it is typed; blank is 0, undefined for anything else. */
export function wholeOf(typed: string): number | undefined {
  const text = latinDigits(typed).trim();
  if (text === '') return 0;
  return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

export interface Changes {
  /** only fields whose text was changed */
  readonly body: Body;
  /** fields whose text is not a number */
  readonly invalid: readonly TypedField[];
}

const WHOLE = ['limitIp', 'limitHwid', 'reset', 'tgId'] as const;
/** Numbers that may be negative. */
const SIGNED: ReadonlySet<TypedField> = new Set(['tgId']);

/** What to send: a field that nobody touched is not part of it, so it cannot be refused. */
export function changesOf(before: Typed, after: Typed, units: Units): Changes {
  const body: Record<string, unknown> = {};
  const invalid: TypedField[] = [];
  const isChanged = (field: TypedField): boolean => before[field] !== after[field];
  for (const field of ['email', 'group', 'comment'] as const)
    if (isChanged(field)) body[field] = after[field];
  if (isChanged('quota')) {
    const bytes = bytesOfTyped(after.quota, units);
    if (bytes === undefined) invalid.push('quota');
    else body['totalGB'] = bytes;
  }
  if (isChanged('expiry')) {
    const expiry = wholeOf(after.expiry);
    if (expiry === undefined) invalid.push('expiry');
    else body['expiryTime'] = expiry;
  }
  for (const field of WHOLE)
    if (isChanged(field)) {
      const value = wholeOf(after[field]);
      if (value === undefined || (value < 0 && !SIGNED.has(field))) invalid.push(field);
      else body[field] = value;
    }
  return { body: body as Body, invalid };
}

/** The field of the form for a path in an error of the panel. */
export function fieldOfPath(path: string): TypedField | undefined {
  const name = path.split('.').at(-1) ?? '';
  const renamed: Readonly<Record<string, TypedField>> = { totalGB: 'quota', expiryTime: 'expiry' };
  const fields: readonly string[] = ['email', 'limitIp', 'limitHwid', 'group', 'comment', 'reset', 'tgId'];
  return renamed[name] ?? (fields.includes(name) ? (name as TypedField) : undefined);
}
