// The part of an entry that follows from address and stream. The protocol adds the account.
import { canonicalAddress, isLoopback } from '../../../kernel/index.js';
import { isSocket } from '../../core-guard/contract.js';
import type { Inbound } from '../schema.js';
import { streamEntry } from '../stream/stream.js';
import type { EntryTemplate } from './entry.js';
import { finalMaskOf } from './read-masks.js';

/** An entry without an account. */
export type EntryBase = Omit<EntryTemplate, 'account'>;

export const isUnspecified = (host: string): boolean =>
  host === '' || host === '0.0.0.0' || canonicalAddress(host) === '::';

/** Returns the inbound's own address; empty when it listens on all addresses, or where only this machine reaches it. */
function ownAddress({ listen, shareAddr, shareAddrStrategy }: Inbound): string {
  if (shareAddrStrategy === 'custom' && shareAddr !== '') return shareAddr;
  return isSocket(listen) || isUnspecified(listen) || isLoopback(listen) ? '' : listen;
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
