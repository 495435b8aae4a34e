// Addresses from which clients connected.
import type { AddressArrivalsApi } from '../../addresses/contract.js';
import type { ClientsApi } from '../../clients/contract.js';
import { type Context, leaveAll } from '../context.js';
import { isObject, jsonOf, secondsOf, textOf } from '../values.js';

const TABLE = 'inbound_client_ips';
const AT_ONCE = 5_000;
const MOST_OF_CLIENT = 1_000;

interface Seen {
  readonly clientId: number;
  readonly ip: string;
  readonly lastSeen: number;
}
interface Sighting {
  readonly ip: string;
  readonly lastSeen: number;
}

/** Older versions list bare addresses, without a time. */
function sightingsIn(value: unknown, now: number): Sighting[] {
  const list = jsonOf(value);
  return (Array.isArray(list) ? list : []).slice(0, MOST_OF_CLIENT).flatMap((item: unknown): Sighting[] => {
    if (typeof item === 'string') return [{ ip: item, lastSeen: now }];
    if (!isObject(item)) return [];
    return [{ ip: textOf(item['ip']), lastSeen: secondsOf(item['timestamp']) * 1000 }];
  });
}

export async function importAddresses(
  context: Context,
  {
    clients,
    addresses,
    now,
  }: { clients: ClientsApi; addresses: AddressArrivalsApi | undefined; now: number },
): Promise<void> {
  const { source, report, dryRun, signal } = context;
  if (!addresses) return leaveAll(context, TABLE, 'addresses');
  let seen: Seen[] = [];
  const write = async (): Promise<void> => {
    if (!dryRun && seen.length > 0) await addresses.add(seen);
    seen = [];
  };
  for await (const row of source.rows(TABLE)) {
    signal.throwIfAborted();
    const email = textOf(row['client_email']).trim();
    const client = clients.byEmail(email);
    const sightings = sightingsIn(row['ips'], now);
    if (!client && !dryRun) report.left(TABLE, 'no client here has this email', email);
    else if (sightings.length === 0) report.left(TABLE, 'it has no address', email);
    else {
      report.taken(TABLE);
      for (const one of sightings) seen.push({ clientId: client?.id ?? 0, ...one });
      while (seen.length >= AT_ONCE) {
        const rest = seen.splice(AT_ONCE);
        await write();
        seen = rest;
      }
    }
  }
  await write();
}
