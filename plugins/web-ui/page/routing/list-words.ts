// A subscription to a list of outbounds as its form has it, and what is sent of that.
import type { EngineCreateOutboundSubInput, EngineOutboundSubsReply } from '../../../../sdk/index.js';

export type OutboundList = EngineOutboundSubsReply[number];
export type SentList = NonNullable<EngineCreateOutboundSubInput['body']>;

export interface TypedList {
  readonly url: string;
  readonly remark: string;
  readonly tagPrefix: string;
  /** minutes, as typed; with decimals for what is no whole minute */
  readonly minutes: string;
  readonly allowPrivate: boolean;
  readonly allowInsecure: boolean;
  readonly prepend: boolean;
}

export const NEW_LIST: TypedList = {
  url: '',
  remark: '',
  tagPrefix: '',
  minutes: '10',
  allowPrivate: false,
  allowInsecure: false,
  prepend: false,
};

export const typedList = (list: OutboundList): TypedList => ({
  url: list.url,
  remark: list.remark,
  tagPrefix: list.tagPrefix,
  // Three decimals are enough to get the same second again.
  minutes: String(Math.round((list.updateInterval / 60) * 1000) / 1000),
  allowPrivate: list.allowPrivate,
  allowInsecure: list.allowInsecure,
  prepend: list.prepend,
});

const LEAST_S = 60;
const MOST_S = 30 * 24 * 3600;

/** Seconds; undefined for what is no interval. */
export function secondsOf(minutes: string): number | undefined {
  const typed = minutes.trim().replace(',', '.');
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(typed)) return undefined;
  const seconds = Math.round(Number(typed) * 60);
  return seconds >= LEAST_S && seconds <= MOST_S ? seconds : undefined;
}

/** All of a new one, and of another one what was changed; undefined while the interval is none. */
export function sentList(typed: TypedList, before?: TypedList): SentList | undefined {
  const updateInterval = secondsOf(typed.minutes);
  if (updateInterval === undefined) return undefined;
  const { minutes: _, ...fields } = typed;
  const sent = { ...fields, url: typed.url.trim(), tagPrefix: typed.tagPrefix.trim(), updateInterval };
  if (!before) {
    const { tagPrefix, ...others } = sent;
    // Without one the panel finds a prefix that is free.
    return tagPrefix === '' ? others : sent;
  }
  const old = { ...before, updateInterval: secondsOf(before.minutes) };
  return Object.fromEntries(
    Object.entries(sent).filter(([name, value]) => old[name as keyof typeof old] !== value),
  ) as SentList;
}

export type ListState = 'off' | 'waiting' | 'good' | 'said';

/** `said`: the panel has something to say of it, such as why the previous outbounds stay. */
export function listState({ enabled, lastError, lastUpdated }: OutboundList): ListState {
  if (!enabled) return 'off';
  if (lastError !== '') return 'said';
  return lastUpdated === 0 ? 'waiting' : 'good';
}

/** Where it comes from, without what may be secret in the address. */
export function placeOfList(url: string): string {
  try {
    const { host, pathname, search } = new URL(url);
    return `${host}${pathname}${search === '' ? '' : '?…'}`;
  } catch {
    return '';
  }
}
