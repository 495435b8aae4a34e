// What time alone will do to one client: when it is cut, renewed and reset. The poll decides with the same functions.
import type { ClientRow } from '../clients/contract.js';
import { renewal } from './renewal.js';

export type Outcome = 'cut' | 'renewed' | 'reset';

interface OutlookWindow {
  readonly now: number;
  /** inclusive */
  readonly until: number;
  readonly zone: string | undefined;
  /** Starts of the periods of this schedule within the window, ascending; first the present one if the client counts since before it. */
  starts(of: Pick<ClientRow, 'trafficReset' | 'trafficResetDay' | 'countedSince'>): readonly number[];
  /** the first reset of an inbound within the window; undefined if there is none */
  inboundReset(inboundId: number): number | undefined;
}

type Subject = Pick<
  ClientRow,
  | 'enable'
  | 'depletedCause'
  | 'expiryTime'
  | 'inboundIds'
  | 'reset'
  | 'resetDay'
  | 'resetMax'
  | 'resetCount'
  | 'trafficReset'
  | 'trafficResetDay'
  | 'countedSince'
>;

/** Calls `happens` in the order of time. Bytes are not foreseen: a quota may disable the client before, and the first use may start its expiry. */
export function outlook(
  client: Subject,
  window: OutlookWindow,
  happens: (outcome: Outcome, at: number) => void,
): void {
  const { now, until, zone } = window;
  let { enable, expiryTime, resetCount, countedSince } = client;
  // An admin's choice wins over every schedule.
  if (!enable && client.depletedCause === null) return;
  const starts = window.starts(client);
  let next = 0;
  const inboundResets = client.depletedCause === 'quota' ? client.inboundIds : [];
  const enabledAt = Math.min(...inboundResets.map((id) => window.inboundReset(id) ?? Infinity));
  for (;;) {
    const end = expiryTime > 0 ? Math.max(expiryTime, now) : Infinity;
    for (let start = starts[next]; start !== undefined && start < end; start = starts[++next]) {
      if (start <= countedSince) continue;
      enable = true;
      happens('reset', start);
    }
    if (end > until) return;
    if (enabledAt < end) enable = true;
    const renewed = renewal({ ...client, expiryTime, resetCount }, end, zone);
    if (!renewed?.isBack) {
      if (enable) happens('cut', end);
      return;
    }
    happens('renewed', end);
    ({ expiryTime, resetCount } = renewed);
    enable = true;
    countedSince = end;
  }
}
