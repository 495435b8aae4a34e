// What the address and the stream of an inbound say to a client's side. A protocol adds its account.
import { canonicalAddress, isLoopback } from '../../../kernel/index.js';
import type { Inbound } from '../schema.js';
import { streamEntry } from '../stream/stream.js';
import type { EntryTemplate } from './entry.js';
import { finalMaskOf } from './read-masks.js';

/** An entry without an account. */
export type EntryBase = Omit<EntryTemplate, 'account'>;

export const isUnspecified = (host: string): boolean =>
  host === '' || host === '0.0.0.0' || canonicalAddress(host) === '::';

/** The address that an inbound brings with it, or nothing when it listens everywhere or only on this machine. */
function ownAddress({ listen, shareAddr, shareAddrStrategy }: Inbound): string {
  if (shareAddrStrategy === 'custom' && shareAddr !== '') return shareAddr;
  return isUnspecified(listen) || isLoopback(listen) ? '' : listen;
}

export function baseEntry(inbound: Inbound): EntryBase {
  const { port, streamSettings } = inbound;
  const finalMask = finalMaskOf(streamSettings['finalmask']);
  return {
    server: ownAddress(inbound).replace(/^\[|\]$/g, ''),
    port,
    ...streamEntry(streamSettings),
    ...(finalMask && { finalMask }),
  };
}
