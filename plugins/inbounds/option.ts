// An inbound in a selection list, without secrets.
import type { InboundsApi } from './contract.js';
import { type Inbound, optionNames, pick } from './fields.js';
import { viewStream } from './stream/stream.js';

export function optionOf(inbound: Inbound, inbounds: Pick<InboundsApi, 'takesFlow'>) {
  const { id, protocol, settings, streamSettings } = inbound;
  const { method } = settings;
  return {
    id,
    ...pick(inbound, optionNames),
    ...viewStream(streamSettings),
    tlsFlowCapable: inbounds.takesFlow(id),
    ssMethod: protocol === 'shadowsocks' && typeof method === 'string' ? method : '',
    nodeId: null,
    nodeAddress: '',
    awgServer: null,
    tuicServer: null,
    mtprotoDomain: '',
    wgDns: '',
    wgMtu: 0,
    wgPublicKey: '',
  };
}
