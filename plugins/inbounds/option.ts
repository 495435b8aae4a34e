// An inbound as programs offer it for choice: what a list of them needs to say, without secrets.
import type { InboundsApi } from './contract.js';
import type { Inbound } from './schema.js';
import { viewStream } from './stream/stream.js';

export function optionOf(inbound: Inbound, inbounds: Pick<InboundsApi, 'takesFlow'>) {
  const {
    id,
    remark,
    tag,
    protocol,
    port,
    enable,
    listen,
    shareAddr,
    shareAddrStrategy,
    settings: { method },
  } = inbound;
  return {
    id,
    remark,
    tag,
    protocol,
    port,
    enable,
    listen,
    ...viewStream(inbound.streamSettings),
    tlsFlowCapable: inbounds.takesFlow(id),
    ssMethod: protocol === 'shadowsocks' && typeof method === 'string' ? method : '',
    shareAddr,
    shareAddrStrategy,
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
