// Transport and security as parameters of share links. Source: XTLS/Xray-core discussion 716; `x_padding_bytes` and
// `extra`: discussion 4113; `fm`: xtls.github.io, FinalMaskObject.
import type { EntryTemplate, FieldsByClient, Reality, Tls, Transport } from '../inbounds/contract.js';
import { maskObject } from './masks.js';
import { type Param, unlessEmpty } from './share-link.js';
import { compactJson, extraOf, xhttpParams } from './xhttp-extra.js';

export function transportParams(transport: Transport): Record<string, Param> {
  switch (transport.kind) {
    case 'tcp': {
      if (!transport.http) return {};
      const { host, paths } = transport.http;
      return { headerType: 'http', host, path: paths[0] };
    }
    case 'ws':
    case 'httpupgrade':
      return { path: transport.path, host: transport.host };
    case 'grpc':
      return {
        serviceName: transport.serviceName,
        authority: transport.authority,
        mode: transport.multiMode ? 'multi' : undefined,
      };
    case 'xhttp': {
      const extra = extraOf(transport);
      return {
        ...xhttpParams(transport),
        extra: Object.keys(extra).length > 0 ? compactJson(extra) : undefined,
      };
    }
    case 'kcp':
      return {
        headerType: transport.header === 'none' ? undefined : transport.header || undefined,
        seed: transport.seed || undefined,
        mtu: transport.mtu?.toString(),
        tti: transport.tti?.toString(),
      };
    case 'own':
      return {};
  }
}

/** v2rayN's JSON uses the same names. */
export const tlsParams = (tls: Tls): Record<string, string | undefined> => ({
  alpn: tls.alpn?.join(',') || undefined,
  sni: tls.serverName,
  fp: tls.fingerprint,
  ech: tls.echConfigList || undefined,
  vcn: tls.verifyPeerCertByName || undefined,
  pcs: tls.pinnedPeerCertSha256?.join(',') || undefined,
});

const realityParams = (reality: FieldsByClient<Reality>): Record<string, Param> => ({
  pbk: reality.publicKey,
  fp: reality.fingerprint,
  sni: unlessEmpty(reality.serverName),
  sid: unlessEmpty(reality.shortId),
  pqv: reality.mldsa65Verify,
  spx: reality.spiderX,
});

function securityParams(security: EntryTemplate['security']): Record<string, Param> {
  switch (security.kind) {
    case 'tls':
      return { ...tlsParams(security), allowInsecure: security.allowInsecure ? '1' : undefined };
    case 'reality':
      return realityParams(security);
    case 'none':
      return {};
  }
}

/** All parameters except those of the protocol itself. */
export function streamParams({ transport, security, finalMask }: EntryTemplate): Record<string, Param> {
  return {
    type: transport.kind,
    ...transportParams(transport),
    fm: finalMask && compactJson(maskObject(finalMask)),
    security: security.kind,
    ...securityParams(security),
  };
}
