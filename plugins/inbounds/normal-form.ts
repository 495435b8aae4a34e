// The form in which an inbound is stored: other names for the same are replaced, and what its protocol cannot use is left out.
import type { Inbound } from './fields.js';
import type { KnownProtocols } from './contributed/known-protocols.js';

type Draft = Omit<Inbound, 'id'>;

/** Names of protocols in older panels and cores. */
const OLD_NAMES: Readonly<Record<string, string>> = { socks: 'mixed' };

/** A plugin may have a protocol under an old name: then it is that one. */
const protocolOf = (name: string, protocols: KnownProtocols): string =>
  protocols.get(name) ? name : (OLD_NAMES[name] ?? name);

/** The core also calls the network `method`, and takes that where both are there. */
function streamOf({ method, ...stream }: Draft['streamSettings']): Draft['streamSettings'] {
  return method === undefined ? stream : { ...stream, network: method };
}

export function normalForm(draft: Draft, protocols: KnownProtocols): Draft {
  const protocol = protocolOf(draft.protocol, protocols);
  const hasStream = protocols.get(protocol)?.stream !== false;
  return { ...draft, protocol, streamSettings: hasStream ? streamOf(draft.streamSettings) : {} };
}
