// A link of TUIC, as NekoBox and v2rayN read it; no authority has written its grammar down.
import type { EntryTemplate, TuicAccount } from '../inbounds/contract.js';
import { percentEncode } from '../subscription/contract.js';
import { compileQuery, textFor, type WriteLink } from './share-link.js';

export function tuicLink({ account, security }: EntryTemplate<TuicAccount>): WriteLink {
  const uuid = textFor(account.uuid);
  const password = textFor(account.password);
  const tls = security.kind === 'tls' ? security : undefined;
  const query = compileQuery({
    allow_insecure: tls?.allowInsecure ? '1' : '0',
    alpn: tls?.alpn?.join(',') || undefined,
    congestion_control: account.congestionControl,
    sni: tls?.serverName || undefined,
    udp_relay_mode: account.udpRelayMode,
  });
  return ({ client, authority, fragment }) =>
    `tuic://${percentEncode(uuid(client))}:${percentEncode(password(client))}@${authority}?${query(client)}${fragment}`;
}
