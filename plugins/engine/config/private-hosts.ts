// Names that the core's DNS is told to give a private address: users would reach it by that name.
import { isIP } from 'node:net';
import { foldKey, isPrivate } from '../../core-guard/contract.js';
import type { Openness } from './base-config.js';
import type { CorePart } from '../contract.js';
import type { Json, JsonObject } from '../driver.js';

/** As common/net/address.go ParseAddress reads it: `[::1]`, and blanks around. */
function plain(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && /[\s\u0085[]/.test(text[from] as string)) from++;
  while (to > from && /[\s\u0085\]]/.test(text[to - 1] as string)) to--;
  return text.slice(from, to);
}
const isPrivateText = (value: Json): boolean => {
  const address = typeof value === 'string' ? plain(value) : '';
  return isIP(address) !== 0 && isPrivate(address);
};

/** Returns the reason against `dns.hosts` with a private address, where users must not reach those. */
export function privateHost(part: CorePart, open: Openness): string | undefined {
  if (open.private === 'allow' || !('section' in part) || part.section !== 'dns') return undefined;
  for (const [written, value] of Object.entries(part.value as JsonObject)) {
    const key = foldKey(written);
    if (key === 'usesystemhosts' && value === true)
      return `${written}: /etc/hosts has addresses that are not public, and users must not reach them; see WEIR_ENGINE_PRIVATE`;
    if (key !== 'hosts' || typeof value !== 'object' || value === null) continue;
    for (const [name, addresses] of Object.entries(value)) {
      const found = [addresses].flat().find((one) => isPrivateText(one as Json));
      if (found !== undefined)
        return `${written}.${name}: ${String(found)} is not public, and users must not reach it; see WEIR_ENGINE_PRIVATE`;
    }
  }
  return undefined;
}
