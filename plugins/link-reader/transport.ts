// The transport of a link. Source: XTLS/Xray-core discussion 716; `x_padding_bytes` and `extra`: discussion 4113.
import { type Transport, xhttpOf } from '../inbounds/contract.js';
import { LinkError } from './link-error.js';
import type { Parameters } from './parameters.js';
import { type Json, jsonIn, numberIn } from './text.js';

/** Other names of the same transports. */
const SAME: Readonly<Record<string, string>> = {
  '': 'tcp',
  raw: 'tcp',
  splithttp: 'xhttp',
  mkcp: 'kcp',
  gun: 'grpc',
};
/** Transports that the core no longer has, with the one that took their place. */
const GONE: Readonly<Record<string, string>> = { h2: 'xhttp', http: 'xhttp', h3: 'xhttp', quic: 'xhttp' };
const BYTES = [1, 65_535] as const;
const MILLISECONDS = [1, 1_000_000] as const;

function headerOf(type: string): 'none' | 'http' {
  if (type === '' || type === 'none') return 'none';
  if (type === 'http') return 'http';
  throw new LinkError('headerType', 'its headerType for tcp is neither none nor http');
}

function xhttp(parameters: Parameters, flat: Json): Transport {
  const extra = parameters.get('extra');
  const padding = parameters.get('x_padding_bytes');
  return xhttpOf({
    ...flat,
    ...(padding && { xPaddingBytes: padding }),
    ...(extra && jsonIn(extra, 'extra')),
    path: parameters.get('path'),
    host: parameters.get('host'),
    ...(parameters.has('mode') && { mode: parameters.get('mode') }),
  });
}

function kcp(parameters: Parameters): Transport {
  const seed = parameters.get('seed');
  const mtu = numberIn(parameters.get('mtu'), 'mtu', BYTES);
  const tti = numberIn(parameters.get('tti'), 'tti', MILLISECONDS);
  return {
    kind: 'kcp',
    header: parameters.get('headerType') || 'none',
    ...(seed && { seed }),
    ...(mtu !== undefined && { mtu }),
    ...(tti !== undefined && { tti }),
  };
}

/** `flat`: fields of XHTTP that stand beside the parameters. */
export function transportIn(parameters: Parameters, flat: Json = {}): Transport {
  const type = parameters.get('type').toLowerCase();
  const path = parameters.get('path');
  const host = parameters.get('host');
  switch (SAME[type] ?? type) {
    case 'tcp':
      return headerOf(parameters.get('headerType')) === 'http'
        ? { kind: 'tcp', http: { host, paths: path ? [path] : [] } }
        : { kind: 'tcp' };
    case 'ws':
      return { kind: 'ws', path: path || '/', host };
    case 'httpupgrade':
      return { kind: 'httpupgrade', path: path || '/', host };
    case 'grpc':
      return {
        kind: 'grpc',
        serviceName: parameters.get('serviceName', 'path'),
        authority: parameters.get('authority'),
        multiMode: parameters.get('mode') === 'multi',
      };
    case 'xhttp':
      return xhttp(parameters, flat);
    case 'kcp':
      return kcp(parameters);
    default: {
      const other = GONE[type];
      throw new LinkError(
        'type',
        other
          ? `its transport ${type} no longer exists; the server must move to ${other}`
          : 'its transport (type) is unknown; it may be tcp, ws, httpupgrade, grpc, xhttp or kcp',
      );
    }
  }
}
