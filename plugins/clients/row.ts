// A client as it is held in memory: everything that lists, links and limits ask for.
import type { ClientIdentity } from '../inbounds/contract.js';

export interface ClientRow extends ClientIdentity {
  readonly id: number;
  email: string;
  subId: string;
  uuid: string;
  password: string;
  flow: string;
  enable: boolean;
  /** set when a limit switched the client off, not a person */
  depletedCause: 'quota' | 'expiry' | null;
  /** bytes; 0 for no limit */
  totalGB: number;
  /** Unix ms; 0 never; negative: a duration from the first use on */
  expiryTime: number;
  limitIp: number;
  limitHwid: number;
  tgId: number;
  group: string;
  comment: string;
  reset: number;
  resetDay: number;
  resetMax: number;
  resetCount: number;
  reverse: Record<string, unknown> | null;
  /** Unix ms */
  createdAt: number;
  updatedAt: number;
  /** ascending; shared between clients, never mutated */
  inboundIds: readonly number[];
  /** bytes over all inbounds */
  up: number;
  down: number;
  /** Unix ms; 0 for never */
  lastOnline: number;
  lastSubFetch: number;
}
/** A copy of its own. Written out, so that all rows have one shape, whether they were read or added: V8 keeps such an object in one piece and finds its fields faster. */
export const rowOf = (row: ClientRow): ClientRow => ({
  id: row.id,
  email: row.email,
  subId: row.subId,
  uuid: row.uuid,
  password: row.password,
  flow: row.flow,
  enable: row.enable,
  depletedCause: row.depletedCause,
  totalGB: row.totalGB,
  expiryTime: row.expiryTime,
  limitIp: row.limitIp,
  limitHwid: row.limitHwid,
  tgId: row.tgId,
  group: row.group,
  comment: row.comment,
  reset: row.reset,
  resetDay: row.resetDay,
  resetMax: row.resetMax,
  resetCount: row.resetCount,
  reverse: row.reverse,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  inboundIds: row.inboundIds,
  up: row.up,
  down: row.down,
  lastOnline: row.lastOnline,
  lastSubFetch: row.lastSubFetch,
});

/** The part of a row that people and imports write. */
export type ClientFields = Pick<
  ClientRow,
  | 'email'
  | 'subId'
  | 'uuid'
  | 'password'
  | 'flow'
  | 'enable'
  | 'depletedCause'
  | 'totalGB'
  | 'expiryTime'
  | 'limitIp'
  | 'limitHwid'
  | 'tgId'
  | 'group'
  | 'comment'
  | 'reset'
  | 'resetDay'
  | 'resetMax'
  | 'resetCount'
  | 'reverse'
  | 'createdAt'
  | 'updatedAt'
>;

export type Depletion = 'quota' | 'expiry' | undefined;

/** Which limit a client has reached, whether or not it is enabled. */
export function depletionOf(
  { totalGB, expiryTime, up, down }: Pick<ClientRow, 'totalGB' | 'expiryTime' | 'up' | 'down'>,
  now: number,
): Depletion {
  if (totalGB > 0 && up + down >= totalGB) return 'quota';
  if (expiryTime > 0 && expiryTime <= now) return 'expiry';
  return undefined;
}

/** Case and composition of letters do not make another client. */
export const emailKey = (email: string): string => email.normalize('NFC').toLowerCase();
/** VLESS ignores the third group of a UUID, so two that differ only there are one credential to the core. */
export const vlessKey = (uuid: string): string => {
  const id = uuid.toLowerCase();
  return id.slice(0, 14) + id.slice(18);
};
