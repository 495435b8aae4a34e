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

/** Returns the address at which clients reach the inbound; empty when it listens on all addresses, or where only its machine reaches it, and the address of its node is not known. */
function ownAddress({ listen, shareAddr, shareAddrStrategy }: Inbound, ofNode: string): string {
  if (shareAddrStrategy === 'custom' && shareAddr !== '') return shareAddr;
  const own = isSocket(listen) || isUnspecified(listen) || isLoopback(listen) ? '' : listen;
  return shareAddrStrategy === 'listen' ? own || ofNode : ofNode || own;
}

/** `nodeAddress`: host of the node that runs it; empty for this machine. */
export function baseEntry(inbound: Inbound, nodeAddress = ''): EntryBase {
  const { port, streamSettings } = inbound;
  const finalMask = finalMaskOf(streamSettings['finalmask']);
  return {
    server: ownAddress(inbound, nodeAddress).replace(/^\[|\]$/g, ''),
    port,
    ...streamEntry(streamSettings),
    ...(finalMask && { finalMask }),
  };
}
