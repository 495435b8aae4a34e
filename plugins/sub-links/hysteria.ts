// A link of Hysteria 2. Source: v2.hysteria.network, URI scheme; `security`, `fp`, `alpn`, `ech` and `vcn` as in the Xray
// share-link proposal (XTLS/Xray-core discussion 716); `mport`: 2dust/v2rayN.
import type { EntryTemplate, FinalMask, HysteriaAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { compileQuery, type Param, textFor, type WriteLink } from './share-link.js';
import { tlsParams } from './stream-params.js';

const SHA256_BYTES = 32;
/** The pin in lower-case hexadecimal, as readers of `pinSHA256` expect it; what is no SHA-256 stays as it was written. */
export function pinInHex(pin: string): string {
  const bare = pin.trim();
  const hex = bare.replaceAll(':', '').toLowerCase();
  if (/^[\da-f]{64}$/.test(hex)) return hex;
  // Node reads both alphabets of base64.
  const bytes = /^[\w+/-]{43}=?$/.test(bare) ? Buffer.from(bare, 'base64') : Buffer.alloc(0);
  return bytes.length === SHA256_BYTES ? bytes.toString('hex') : pin;
}

const LARGEST_PACKET = 2048;
/** The first salamander; with a range of packet sizes it is gecko, which changes them too. */
function obfuscation({ udp = [] }: FinalMask): Record<string, Param> {
  const mask = udp.find((one) => one.kind === 'salamander');
  if (!mask) return {};
  const [, min = '', max = ''] = /^(\d{1,4})-(\d{1,4})$/.exec(mask.packetSize ?? '') ?? [];
  const isRange = Number(min) >= 1 && Number(min) <= Number(max) && Number(max) <= LARGEST_PACKET;
  return {
    'obfs-password': mask.password,
    ...(isRange ? { obfs: 'gecko', minPacketSize: min, maxPacketSize: max } : { obfs: 'salamander' }),
  };
}

export function hysteriaLink({
  account,
  security,
  finalMask = {},
}: EntryTemplate<HysteriaAccount>): WriteLink {
  const auth = textFor(account.auth);
  const { pcs: _pins, ...tls } = security.kind === 'tls' ? tlsParams(security) : { pcs: undefined };
  const pins = security.kind === 'tls' ? security.pinnedPeerCertSha256 : undefined;
  const query = compileQuery({
    security: 'tls',
    ...tls,
    pinSHA256: pins?.map(pinInHex).join(',') || undefined,
    insecure: security.kind === 'tls' && security.allowInsecure ? '1' : undefined,
    ...obfuscation(finalMask),
    // The port of the link stays one number: several programs cannot read ranges there.
    mport: finalMask.udpHop?.ports,
  });
  return ({ client, authority, fragment }) =>
    `hysteria2://${percentEncode(auth(client))}@${authority}?${query(client)}${fragment}`;
}
