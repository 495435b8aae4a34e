// How a client is: whether it can connect, and why not.
import type { ClientsGetReply } from '../../../../sdk/index.js';
import type { MessageKey } from '../language/message-key.js';

export type Client = Pick<
  ClientsGetReply,
  'enable' | 'totalGB' | 'expiryTime' | 'inboundIds' | 'traffic' | 'limitIp' | 'limitHwid'
>;
export type State = 'on' | 'waiting' | 'soon' | 'quota' | 'expired' | 'off' | 'unattached';

const DAY = 24 * 3_600_000;
/** From when a limit is near. */
const SOON_MS = 3 * DAY;
const SOON_SHARE = 0.9;

export const usedBytes = ({ traffic }: Pick<Client, 'traffic'>): number =>
  (traffic?.up ?? 0) + (traffic?.down ?? 0);

/** From 0 to 1 of the quota; undefined without one. */
export const usedShare = (client: Pick<Client, 'totalGB' | 'traffic'>): number | undefined =>
  client.totalGB > 0 ? usedBytes(client) / client.totalGB : undefined;

/** The first thing that keeps it from connecting; else whether a limit is near. */
export function stateOf(client: Client, now: number): State {
  const { enable, totalGB, expiryTime, inboundIds } = client;
  if (totalGB > 0 && usedBytes(client) >= totalGB) return 'quota';
  if (expiryTime > 0 && expiryTime <= now) return 'expired';
  if (!enable) return 'off';
  if (inboundIds.length === 0) return 'unattached';
  const isSoon = (expiryTime > 0 && expiryTime - now < SOON_MS) || (usedShare(client) ?? 0) >= SOON_SHARE;
  if (isSoon) return 'soon';
  return expiryTime < 0 && usedBytes(client) === 0 ? 'waiting' : 'on';
}

/** The colour of a state. Each state has a word, too. */
export const levelOf = (state: State): 'good' | 'warn' | 'bad' => {
  if (state === 'on' || state === 'waiting') return 'good';
  return state === 'soon' || state === 'unattached' ? 'warn' : 'bad';
};

export interface Verdict {
  readonly state: State;
  readonly text: MessageKey;
}

/** Why a client works or not, in a sentence with what to do. `isCoreUp` is undefined where nobody says it. */
export function verdictOf(
  client: Client,
  now: number,
  {
    isCoreUp,
    enabledInbounds,
  }: { isCoreUp?: boolean | undefined; enabledInbounds?: ReadonlySet<number> | undefined },
): Verdict {
  const state = stateOf(client, now);
  if (state === 'quota' || state === 'expired' || state === 'off' || state === 'unattached')
    return { state, text: `verdict.${state}` };
  if (isCoreUp === false) return { state: 'off', text: 'verdict.core' };
  if (enabledInbounds && !client.inboundIds.some((id) => enabledInbounds.has(id)))
    return { state: 'off', text: 'verdict.inbounds' };
  return { state, text: `verdict.${state}` };
}

/** A client that moved bytes this recently is online: polls come every five seconds. */
const ONLINE_MS = 15_000;
export const isOnline = ({ enable, traffic }: Pick<Client, 'enable' | 'traffic'>, now: number): boolean =>
  enable && (traffic?.lastOnline ?? 0) > now - ONLINE_MS;
