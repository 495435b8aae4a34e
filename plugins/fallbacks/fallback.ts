// What a fallback means: where it leads, and the form that the core reads.
import { inboundAt, isSocket } from '../core-guard/contract.js';
import type { JsonObject } from '../engine/contract.js';
import { type Inbound, isUnspecified, viewStream } from '../inbounds/contract.js';
import type { Fallback } from './schema.js';

/** Protocols of the core with fallbacks (xtls.github.io, VLESS and Trojan inbound). */
export const MASTERS: readonly string[] = ['vless', 'trojan'];

/** Why the core would not use the fallbacks of this inbound; undefined when it does. They work on the first bytes of a TLS or REALITY connection. */
export function idleReason({ streamSettings }: Inbound): string | undefined {
  const { network, security } = viewStream(streamSettings);
  if (network !== 'tcp') return `fallbacks work over tcp only, and this inbound uses ${network}`;
  return security === 'none' ? 'fallbacks need the security tls or reality' : undefined;
}

/** Whether connections come through the fallbacks of this inbound now. */
export const leadsOn = (master: Inbound): boolean => master.enable && idleReason(master) === undefined;

/** Where another program of this machine reaches the inbound, as a destination of the core. */
export function placeOf({ listen, port }: Inbound): string {
  // The core pads a name after `@@` on both sides, so it stays as it is.
  if (isSocket(listen)) return listen.startsWith('@') ? listen : listen.replace(/,\d+$/, '');
  if (isUnspecified(listen)) return `127.0.0.1:${port}`;
  return listen.includes(':') && !listen.startsWith('[') ? `[${listen}]:${port}` : `${listen}:${port}`;
}

/** In the core's config. A child may move, so its place is read now. */
export function coreFallback(
  { childId, name, alpn, path, dest, xver }: Fallback,
  childOf: (id: number) => Inbound | undefined,
): JsonObject {
  const child = childId === 0 ? undefined : childOf(childId);
  return {
    dest: child ? placeOf(child) : dest,
    ...(name !== '' && { name }),
    ...(alpn !== '' && { alpn }),
    ...(path !== '' && { path }),
    ...(xver > 0 && { xver }),
  };
}

/** How an inbound is reached through another one. */
export interface Reached {
  readonly masterId: number;
  readonly path: string;
}

/** The fallbacks in an inbound's own settings that lead to inbounds of this panel, by child. In force while it has none of ours. */
export function reachedBySettings({ id, settings }: Inbound, all: readonly Inbound[]): Map<number, Reached> {
  const reached = new Map<number, Reached>();
  const { fallbacks } = settings;
  for (const entry of Array.isArray(fallbacks) ? (fallbacks as unknown[]) : []) {
    const { dest, path } = (entry ?? {}) as { readonly dest?: unknown; readonly path?: unknown };
    const child = inboundAt(dest, all);
    if (child && child.id !== id && !reached.has(child.id))
      reached.set(child.id, { masterId: id, path: typeof path === 'string' ? path : '' });
  }
  return reached;
}
