// What a node of the older kind has, by its `inbounds/list`: checked and bounded, since a node may lie.
import { createHash } from 'node:crypto';
import { TimeSlice } from '../../kernel/index.js';

export interface RemoteInbound {
  readonly id: number;
  readonly tag: string;
  readonly port: number;
  readonly protocol: string;
  readonly listen: string;
  readonly enable: boolean;
  /** of everything that a central sets, clients left out */
  readonly digest: string;
}
export interface RemoteClient {
  readonly email: string;
  /** false: disabled by an admin, or by a limit there */
  readonly enable: boolean;
  /** ids of inbounds there */
  readonly inboundIds: Set<number>;
  /** the inbound that its counters name */
  readonly countedAt: number;
  /** absolute; one pair for all inbounds there. Undefined where the node shows none */
  readonly counters: { readonly up: number; readonly down: number } | undefined;
  /** whether a limit there has disabled it, as far as it can be seen */
  readonly isAtLimit: boolean;
  /** of what a central sets, without `enable` and its inbounds */
  readonly digest: string;
}
export interface Snapshot {
  readonly inbounds: Map<number, RemoteInbound>;
  /** by email in lower case */
  readonly clients: Map<string, RemoteClient>;
}
type Values = Readonly<Record<string, unknown>>;

const MOST_INBOUNDS = 2_000;
const MOST_CLIENTS = 50_000;
const LONGEST = 255;
/** As much as a panel counts in a century. */
const MOST_BYTES = 2 ** 52;

export const keyOf = (email: string): string => email.toLowerCase();
export const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

const record = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
/** An object, or one as JSON text; undefined for anything else. */
function objectOf(value: unknown): Values | undefined {
  if (typeof value !== 'string') return value === null || value === undefined ? {} : record(value);
  if (value.trim() === '') return {};
  try {
    return record(JSON.parse(value));
  } catch {
    return undefined;
  }
}
const wrong = (path: string): Error => new Error(`its list of inbounds has an invalid ${path}`);

function whole(values: Values, key: string, path: string, most = MOST_BYTES): number {
  const value = values[key] ?? 0;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw wrong(`${path}.${key}`);
  return value;
}
function text(values: Values, key: string, path: string): string {
  const value = values[key] ?? '';
  if (typeof value !== 'string' || value.length > LONGEST) throw wrong(`${path}.${key}`);
  return value;
}

/** Keys in one order: a panel may write them in another one each time. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, one]) => [name, ordered(one)]);
}

/** Throws a sentence that names what is wrong with the list. */
export async function snapshotOf(list: unknown, now: number): Promise<Snapshot> {
  if (!Array.isArray(list)) throw new Error('it sent something else than a list of inbounds');
  if (list.length > MOST_INBOUNDS)
    throw new Error(`it says that it has ${list.length} inbounds; at most ${MOST_INBOUNDS} are read`);
  const snapshot: Snapshot = { inbounds: new Map(), clients: new Map() };
  const slice = new TimeSlice();
  // The reply has just been parsed, in one piece.
  await slice.next();
  for (const [index, value] of list.entries()) {
    if (slice.isOver) await slice.next();
    await inboundOf(record(value), `obj[${index}]`, { into: snapshot, slice, now });
  }
  return snapshot;
}

interface Reading {
  readonly into: Snapshot;
  readonly slice: TimeSlice;
  readonly now: number;
}

async function inboundOf(sent: Values, path: string, { into, slice, now }: Reading): Promise<void> {
  const id = whole(sent, 'id', path);
  const settings = objectOf(sent['settings']);
  // It is a text with all its clients.
  if (slice.isOver) await slice.next();
  const stream = objectOf(sent['streamSettings']);
  const sniffing = objectOf(sent['sniffing']);
  if (!settings) throw wrong(`${path}.settings`);
  if (!stream) throw wrong(`${path}.streamSettings`);
  if (!sniffing) throw wrong(`${path}.sniffing`);
  if (id === 0 || into.inbounds.has(id)) throw wrong(`${path}.id`);
  const { clients = [], ...rest } = settings;
  const stats = sent['clientStats'] ?? [];
  const own = clients ?? [];
  if (!Array.isArray(own) || own.length > MOST_CLIENTS) throw wrong(`${path}.settings.clients`);
  if (!Array.isArray(stats) || stats.length > MOST_CLIENTS) throw wrong(`${path}.clientStats`);
  const tag = text(sent, 'tag', path);
  const port = whole(sent, 'port', path, 65_535);
  const protocol = text(sent, 'protocol', path);
  const listen = text(sent, 'listen', path);
  const remark = text(sent, 'remark', path);
  const enable = sent['enable'] === true;
  const limits = [sent['total'], sent['expiryTime'], sent['trafficReset'] ?? 'never'];
  const digest = digestOf(
    ordered([remark, tag, port, protocol, listen, limits, rest, stream, sniffing]) as [],
  );
  into.inbounds.set(id, { id, tag, port, protocol, listen, enable, digest });
  const counted = new Map<string, Values>();
  for (const [i, value] of stats.entries()) {
    if (slice.isOver) await slice.next();
    const email = text(record(value), 'email', `${path}.clientStats[${i}]`);
    counted.set(keyOf(email), record(value));
  }
  for (const [i, value] of own.entries()) {
    if (slice.isOver) await slice.next();
    const at = `${path}.settings.clients[${i}]`;
    const email = text(record(value), 'email', at);
    if (email === '') continue;
    if (!into.clients.has(keyOf(email)) && into.clients.size >= MOST_CLIENTS)
      throw new Error(`it says that it has more than ${MOST_CLIENTS} clients`);
    const client = clientOf(
      record(value),
      counted.get(keyOf(email)),
      into.clients.get(keyOf(email)),
      at,
      now,
    );
    client.inboundIds.add(id);
    into.clients.set(keyOf(email), { ...client, email });
  }
}

/** `known` is what another inbound there shows of the client. */
function clientOf(
  sent: Values,
  stats: Values | undefined,
  known: RemoteClient | undefined,
  path: string,
  now: number,
): Omit<RemoteClient, 'email'> {
  const read = stats && {
    up: whole(stats, 'up', `${path} (clientStats)`),
    down: whole(stats, 'down', `${path} (clientStats)`),
  };
  // Every inbound shows the same counters; should they differ, the greater ones are later.
  const counters =
    read && known?.counters
      ? { up: Math.max(read.up, known.counters.up), down: Math.max(read.down, known.counters.down) }
      : (read ?? known?.counters);
  const { id, password, auth, subId, totalGB, expiryTime, limitIp, reset, resetDay } = sent;
  const total = Number(stats?.['total'] ?? totalGB ?? 0);
  const expiry = Number(stats?.['expiryTime'] ?? expiryTime ?? 0);
  return {
    enable: sent['enable'] !== false && stats?.['enable'] !== false && (known?.enable ?? true),
    inboundIds: known?.inboundIds ?? new Set<number>(),
    countedAt: typeof stats?.['inboundId'] === 'number' ? stats['inboundId'] : (known?.countedAt ?? 0),
    counters,
    isAtLimit:
      (known?.isAtLimit ?? false) ||
      (total > 0 && (counters?.up ?? 0) + (counters?.down ?? 0) >= total) ||
      (expiry > 0 && expiry <= now),
    digest: digestOf([
      ...[known?.digest ?? '', id, password, auth, subId],
      ...[totalGB, expiryTime, limitIp, reset ?? 0, resetDay ?? 0],
    ]),
  };
}
