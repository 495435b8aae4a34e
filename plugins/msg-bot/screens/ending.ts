// Clients that a limit disabled, or that reach one soon.
import { TimeSlice } from '../../../kernel/index.js';
import { type ClientRow, clientSettings } from '../../clients/contract.js';
import type { Parts } from './parts.js';

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
/** Where the settings of the lists say nothing. */
const USUAL_DAYS = 3;
const USUAL_SHARE = 0.2;

export interface Ending {
  readonly count: number;
  /** the first of them, by email */
  readonly rows: readonly ClientRow[];
}

/** Looks through all clients; others have their turn in between. */
export async function endingClients({ clients, allSettings, clock }: Parts, most: number): Promise<Ending> {
  const { expireDiff, trafficDiff } = allSettings.read(clientSettings);
  const now = clock.now();
  const until = now + (expireDiff || USUAL_DAYS) * DAY_MS;
  const isEnding = ({
    enable,
    depletedCause,
    totalGB,
    up,
    down,
    expiryTime,
  }: Readonly<ClientRow>): boolean => {
    if (depletedCause !== null) return true;
    if (!enable) return false;
    if (expiryTime > 0 && expiryTime <= until) return true;
    const left = trafficDiff > 0 ? trafficDiff * GIB : totalGB * USUAL_SHARE;
    return totalGB > 0 && totalGB - up - down <= left;
  };
  const ids: number[] = [];
  for (const { id } of clients.all()) ids.push(id);
  const slice = new TimeSlice();
  const rows: ClientRow[] = [];
  let count = 0;
  for (const id of ids) {
    if (slice.isOver) await slice.next();
    const row = clients.byId(id);
    if (!row || !isEnding(row)) continue;
    count++;
    if (rows.length < most) rows.push(row);
  }
  return { count, rows: rows.sort((a, b) => (a.email < b.email ? -1 : 1)) };
}
