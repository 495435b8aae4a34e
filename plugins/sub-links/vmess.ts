// A link of VMess: base64 of v2rayN's JSON, version 2 (2dust/v2rayN, "Description of VMess share link"), keys in order,
// indented by two.
import type { EntryTemplate, Transport, VmessAccount } from '../inbounds/contract.js';
import { maskObject } from './masks.js';
import { type LinkFill, textFor, type WriteLink } from './share-link.js';
import { tlsParams } from './stream-params.js';
import { compactJson, extraOf, xhttpParams } from './xhttp-extra.js';

type Field = string | ((fill: LinkFill) => string);

/** Escapes characters that matter to readers of JSON inside HTML, as the programs that share these links do. */
const json = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Fields beside `net`. */
function transportFields(transport: Transport): Record<string, unknown> {
  switch (transport.kind) {
    case 'tcp': {
      if (!transport.http) return {};
      const { host, paths } = transport.http;
      return { type: 'http', host, path: paths[0] };
    }
    case 'ws':
    case 'httpupgrade':
      return { path: transport.path, host: transport.host };
    case 'grpc':
      return {
        path: transport.serviceName,
        authority: transport.authority,
        ...(transport.multiMode && { type: 'multi' }),
      };
    case 'xhttp':
      return { ...xhttpParams(transport), ...extraOf(transport), mode: transport.mode };
    case 'kcp':
      return {
        ...(transport.header !== '' && { type: transport.header }),
        path: transport.seed,
        mtu: transport.mtu,
        tti: transport.tti,
      };
    case 'own':
      return {};
  }
}

export function vmessLink(entry: EntryTemplate<VmessAccount>): WriteLink {
  const { account, transport, security, finalMask, port } = entry;
  const id = textFor(account.id);
  const cipher = textFor(account.security);
  const fixed = {
    v: '2',
    net: transport.kind,
    type: 'none',
    ...transportFields(transport),
    tls: security.kind,
    // The JSON has no fields for REALITY.
    ...(security.kind === 'tls' && tlsParams(security)),
    // v2rayN's newer versions read it; others ignore it.
    insecure: security.kind === 'tls' && security.allowInsecure ? '1' : undefined,
    fm: finalMask && compactJson(maskObject(finalMask)),
    port,
  };
  const fields: Record<string, Field> = {
    ...Object.fromEntries(
      Object.entries(fixed)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, json(value)]),
    ),
    add: ({ server }) => json(server),
    scy: ({ client }) => json(cipher(client)),
    id: ({ client }) => `"${id(client)}"`,
    ps: ({ name }) => json(name),
  };
  const sorted = Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [`  ${json(key)}: `, value] as const);
  return (fill) => {
    const lines = sorted.map(([head, value]) => head + (typeof value === 'string' ? value : value(fill)));
    return `vmess://${Buffer.from(`{\n${lines.join(',\n')}\n}`).toString('base64')}`;
  };
}
