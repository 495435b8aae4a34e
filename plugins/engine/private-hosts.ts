// Names that the core's DNS is told to give a private address: users would reach it by that name.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { PRIVATE_RANGES } from '../core-guard/contract.js';
import type { Openness } from './base-config.js';
import type { CorePart } from './contract.js';
import type { Json } from './driver.js';

const blocked = new BlockList();
for (const range of PRIVATE_RANGES) {
  const [address = '', bits] = range.split('/');
  blocked.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
}
const isPrivate = (value: Json): boolean =>
  typeof value === 'string' && isIP(value) !== 0 && blocked.check(value, isIPv6(value) ? 'ipv6' : 'ipv4');

/** Returns the reason against `dns.hosts` with a private address, where users must not reach those. */
export function privateHost(part: CorePart, open: Openness): string | undefined {
  if (open.private === 'allow' || !('section' in part) || part.section !== 'dns') return undefined;
  const { hosts } = part.value as { readonly hosts?: Json };
  if (typeof hosts !== 'object' || hosts === null) return undefined;
  for (const [name, value] of Object.entries(hosts)) {
    const found = [value].flat().find((one) => isPrivate(one as Json));
    if (found !== undefined)
      return `hosts.${name}: ${String(found)} is not public, and users must not reach it; see WEIR_ENGINE_PRIVATE`;
  }
  return undefined;
}
