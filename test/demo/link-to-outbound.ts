// A share link read as a client program reads it: nothing but the link says how to connect.
// Grammar: the Xray share-link proposal (XTLS/Xray-core discussion 716); trojan adds its password as userinfo.
import type { JsonObject } from '../../plugins/engine/contract.js';

function stream(params: URLSearchParams): JsonObject {
  const network = params.get('type') ?? 'tcp';
  const security = params.get('security') ?? 'none';
  if (security !== 'none') throw new Error(`this reader knows no security "${security}"`);
  if (network === 'tcp') return { network, security };
  if (network === 'ws') return { network, security, wsSettings: { path: params.get('path') ?? '/', host: params.get('host') ?? '' } };
  throw new Error(`this reader knows no transport "${network}"`);
}

/** The outbound with which a core connects as the link says, and the name that a client program shows for it. */
export function outboundOf(link: string): { name: string; outbound: JsonObject } {
  const { protocol, username, hostname, port, searchParams, hash } = new URL(link);
  const scheme = protocol.slice(0, -1);
  const credential = decodeURIComponent(username);
  const place = { address: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  const name = decodeURIComponent(hash.slice(1));
  const common = { tag: 'proxy', protocol: scheme, streamSettings: stream(searchParams) };
  if (scheme === 'vless') {
    const user = { id: credential, encryption: searchParams.get('encryption') ?? 'none', flow: searchParams.get('flow') ?? '' };
    return { name, outbound: { ...common, settings: { vnext: [{ ...place, users: [user] }] } } };
  }
  if (scheme === 'trojan') return { name, outbound: { ...common, settings: { servers: [{ ...place, password: credential }] } } };
  throw new Error(`this reader knows no protocol "${scheme}"`);
}

/** Links of a subscription: lines, or lines in base64. */
export function linksOf(body: string): string[] {
  const text = body.includes('://') ? body : Buffer.from(body, 'base64').toString('utf8');
  return text.split('\n').map((line) => line.trim()).filter(Boolean);
}
