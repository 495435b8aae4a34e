// Masks in the form of the core's config, which links carry as JSON. Source: xtls.github.io, FinalMaskObject.
import type { FinalMask } from '../inbounds/contract.js';

type Mask = NonNullable<FinalMask['tcp']>[number] | NonNullable<FinalMask['udp']>[number];

function settled({ kind, ...settings }: Mask): object {
  return Object.keys(settings).length > 0 ? { type: kind, settings } : { type: kind };
}

export const maskObject = ({ tcp = [], udp = [], udpHop }: FinalMask): object => ({
  ...(tcp.length > 0 && { tcp: tcp.map(settled) }),
  ...(udp.length > 0 && { udp: udp.map(settled) }),
  ...(udpHop && { quicParams: { udpHop } }),
});
