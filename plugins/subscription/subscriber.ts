// Whom a subscription is for: one client nearly always, several where an import or an older database gave them one subId.
import { type ClientRow, type ClientsApi, depletionOf } from '../clients/contract.js';
import type { PageView } from './pages.js';

export interface Subscriber {
  /** The client; of several, their sum, with the identity of the one that was first. */
  readonly client: ClientRow;
  /** by id; undefined for one client */
  readonly sharing?: readonly ClientRow[] | undefined;
}
export type State = PageView['state'];

/** Why no link of the client works, or `working`. */
export function stateOf({ client, sharing }: Subscriber, now: number): State {
  if (!sharing) return stateOfOne(client, now);
  const states = sharing.map((one) => stateOfOne(one, now));
  return states.find((state) => state === 'working') ?? states[0] ?? 'disabled';
}

function stateOfOne(client: ClientRow, now: number): State {
  const cause = client.enable ? depletionOf(client, now) : client.depletedCause;
  if (cause) return cause === 'quota' ? 'depleted' : 'expired';
  return client.enable ? 'working' : 'disabled';
}

export function subscriberOf(clients: ClientsApi, client: ClientRow, now: number): Subscriber {
  const sharing = clients.sharing(client.subId);
  return sharing ? { client: sumOf(sharing, now), sharing } : { client };
}

const highest = (values: readonly number[]): number => Math.max(0, ...values);
const sum = (values: readonly number[]): number =>
  Math.min(
    values.reduce((a, b) => a + b, 0),
    Number.MAX_SAFE_INTEGER,
  );

/** Bytes are added; no limit of one is no limit of all. An expiry is shown where all have the same. */
function sumOf(clients: readonly ClientRow[], now: number): ClientRow {
  const [first] = clients as [ClientRow];
  const limits = clients.map(({ totalGB }) => totalGB);
  const ends = clients.map(({ expiryTime }) => (expiryTime < 0 ? now - expiryTime : expiryTime));
  const enabled = clients.filter(({ enable }) => enable);
  return {
    ...first,
    up: sum(clients.map(({ up }) => up)),
    down: sum(clients.map(({ down }) => down)),
    totalGB: limits.some((limit) => limit <= 0) ? 0 : sum(limits),
    expiryTime: ends.every((end) => end === ends[0]) ? (ends[0] as number) : 0,
    enable: enabled.length > 0,
    limitHwid: highest(enabled.map(({ limitHwid }) => limitHwid)),
    lastOnline: highest(clients.map(({ lastOnline }) => lastOnline)),
  };
}
