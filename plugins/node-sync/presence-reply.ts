// What a node tells of who is connected, checked by hand: a schema would hold the event loop over so many ids.
import { TimeSlice } from '../../kernel/index.js';

const LONGEST_POSITION = 64;
const MOST_MACHINES = 2_000;
const MOST_IDS = 200_000;
const MOST_ADDRESSES = 10_000;
const MOST_DEVICES = 1_000;
const LONGEST_LINE = 512;
const HASH = /^[0-9a-f]{64}$/;
const MOST_AGO_MS = 24 * 3_600_000;
const GUID = /^[\w:.-]{1,64}$/;

export interface ToldMachine {
  readonly guid: string;
  readonly online: readonly number[];
  readonly gone: readonly number[];
  readonly active: readonly number[];
  readonly idle: readonly number[];
}
export interface ToldAddress {
  readonly id: number;
  readonly ip: string;
  readonly guid: string;
  /** ms before the reply */
  readonly since: number;
  readonly seen: number;
}
/** A device that fetched a subscription there. */
export interface ToldDevice {
  readonly id: number;
  readonly hash: string;
  /** ms before the reply */
  readonly seen: number;
  readonly userAgent: string;
  readonly deviceOs: string;
  readonly osVersion: string;
  readonly deviceModel: string;
}
export interface PresenceReply {
  readonly position: string;
  readonly isFull: boolean;
  readonly machines: readonly ToldMachine[];
  readonly addresses: readonly ToldAddress[];
  readonly devices: readonly ToldDevice[];
}
type Fields = Readonly<Record<string, unknown>>;

const fail = (what: string): never => {
  throw new Error(`what it tells of who is connected cannot be read: ${what}`);
};
const fieldsOf = (value: unknown, what: string): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : fail(`${what} must be an object`);

function listOf(value: unknown, most: number, what: string): readonly unknown[] {
  if (!Array.isArray(value)) return fail(`${what} must be a list`);
  return value.length <= most ? value : fail(`${what} has more than ${most} entries`);
}
const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
const isAgo = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_AGO_MS;
const guidOf = (value: unknown): string =>
  typeof value === 'string' && GUID.test(value) ? value : fail('guid must be a guid');

/** Throws a sentence that says what is wrong. */
export async function presenceIn(value: unknown): Promise<PresenceReply> {
  const { position, isFull, machines, addresses, devices = [] } = fieldsOf(value, 'presence');
  if (typeof position !== 'string' || position.length > LONGEST_POSITION)
    return fail(`position must be a text of at most ${LONGEST_POSITION} characters`);
  if (typeof isFull !== 'boolean') return fail('isFull must be true or false');
  const slice = new TimeSlice();
  let room = MOST_IDS;
  const idsOf = (list: unknown, what: string): readonly number[] => {
    const ids = listOf(list, room, what);
    room -= ids.length;
    return ids.every(isId) ? (ids as readonly number[]) : fail(`${what} must be ids`);
  };
  const checked: ToldMachine[] = [];
  for (const entry of listOf(machines, MOST_MACHINES, 'machines')) {
    if (slice.isOver) await slice.next();
    const { guid, online, gone, active, idle } = fieldsOf(entry, 'a machine');
    checked.push({
      guid: guidOf(guid),
      online: idsOf(online, 'online'),
      gone: idsOf(gone, 'gone'),
      active: idsOf(active, 'active'),
      idle: idsOf(idle, 'idle'),
    });
  }
  const seenAt: ToldAddress[] = [];
  for (const entry of listOf(addresses, MOST_ADDRESSES, 'addresses')) {
    if (slice.isOver) await slice.next();
    const { id, ip, guid, since, seen } = fieldsOf(entry, 'an address');
    if (!isId(id)) return fail('id of an address must be that of a client');
    if (typeof ip !== 'string' || ip.length > 64) return fail('ip must be an address');
    if (!isAgo(since) || !isAgo(seen)) return fail('since and seen must be ms of the last day');
    seenAt.push({ id, ip, guid: guidOf(guid), since, seen });
  }
  const fetched = listOf(devices, MOST_DEVICES, 'devices').map(deviceIn);
  return { position, isFull, machines: checked, addresses: seenAt, devices: fetched };
}

const lineIn = (value: unknown): string =>
  typeof value === 'string' && value.length <= LONGEST_LINE
    ? value.replaceAll(/\p{Cc}/gu, ' ')
    : fail(`what a device says of itself must be texts of at most ${LONGEST_LINE} characters`);

function deviceIn(value: unknown): ToldDevice {
  const { id, hash, seen, userAgent, deviceOs, osVersion, deviceModel } = fieldsOf(value, 'a device');
  if (!isId(id)) return fail('id of a device must be that of a client');
  if (typeof hash !== 'string' || !HASH.test(hash)) return fail('hash of a device must be a SHA-256 in hex');
  if (!isAgo(seen)) return fail('seen of a device must be ms of the last day');
  return {
    id,
    hash,
    seen,
    userAgent: lineIn(userAgent),
    deviceOs: lineIn(deviceOs),
    osVersion: lineIn(osVersion),
    deviceModel: lineIn(deviceModel),
  };
}
