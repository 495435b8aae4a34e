// An inbound in a selection list, without secrets.
import { PanelError } from '../../kernel/index.js';
import type { InboundsApi, ProtocolOption } from './contract.js';
import { type Inbound, optionNames, pick } from './fields.js';
import { viewStream } from './stream/stream.js';

/** Of inbounds whose protocol does not have the field. */
const NOTHING: Required<ProtocolOption> = {
  awgServer: null,
  tuicServer: null,
  mtprotoDomain: '',
  wgDns: '',
  wgMtu: 0,
  wgPublicKey: '',
};

/** `nodeAddress`: host of the node that runs it; empty for this machine. */
export function optionOf(
  inbound: Inbound,
  inbounds: Pick<InboundsApi, 'takesFlow' | 'protocol'>,
  nodeAddress = '',
) {
  const { id, protocol, settings, streamSettings } = inbound;
  const { method } = settings;
  return {
    id,
    ...pick(inbound, optionNames),
    ...viewStream(streamSettings),
    tlsFlowCapable: inbounds.takesFlow(id),
    ssMethod: protocol === 'shadowsocks' && typeof method === 'string' ? method : '',
    nodeAddress,
    ...NOTHING,
    ...ownFields(inbound, inbounds),
  };
}

/** Nothing where the protocol's plugin fails, which is logged already: the list shows the inbound all the same. */
function ownFields(inbound: Inbound, inbounds: Pick<InboundsApi, 'protocol'>): ProtocolOption {
  try {
    const own = inbounds.protocol(inbound.protocol)?.option?.(inbound) ?? {};
    // No other keys: a protocol may hand over more of its settings than it should.
    return Object.fromEntries(Object.entries(own).filter(([name]) => name in NOTHING));
  } catch (error) {
    if (error instanceof PanelError) return {};
    throw error;
  }
}
