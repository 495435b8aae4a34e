// Transports in the form of the core's config. Sources: xtls.github.io, one page for each; XTLS/Xray-core discussion 4113 (XHTTP).
import type { EntryTemplate, TcpTransport, Transport, XhttpTransport } from '../inbounds/contract.js';
import type { JsonTemplate } from '../subscription/contract.js';
import { securityOf } from './security.js';

type Settings = Readonly<Record<string, JsonTemplate>>;

/** The fields with a value. */
const said = (fields: object): Settings =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ![undefined, '', false].includes(value as never)),
  ) as Settings;

function tcpSettings({ http }: TcpTransport): Settings {
  if (!http) return {};
  const { host, paths, method, headers } = http;
  const request = {
    ...said({ method }),
    path: paths.length > 0 ? paths : ['/'],
    headers: { ...headers, ...(host !== '' && { Host: [host] }) },
  };
  return { tcpSettings: { header: { type: 'http', request } } as JsonTemplate };
}

/** Defaults of every client; naming them would only make the document recognisable. */
const UNSAID: Settings = { scMaxEachPostBytes: '1000000', scMinPostsIntervalMs: '30' };

function xhttpSettings({ kind: _kind, download, ...fields }: XhttpTransport): Settings {
  const { sessionIDPlacement, sessionIDKey } = fields;
  const own = Object.entries(fields).filter(([key, value]) => String(value) !== UNSAID[key]);
  return {
    ...said(Object.fromEntries(own)),
    // Newer cores read the names with ID, this one the others.
    ...said({ sessionPlacement: sessionIDPlacement, sessionKey: sessionIDKey }),
    ...(download && {
      downloadSettings: {
        address: download.server,
        port: download.port,
        network: 'xhttp',
        ...securityOf(download.security),
        xhttpSettings: xhttpSettings(download.transport),
      },
    }),
  };
}

function transportSettings(transport: Transport): Settings {
  switch (transport.kind) {
    case 'tcp':
      return tcpSettings(transport);
    case 'ws':
    case 'httpupgrade': {
      const { kind, ...settings } = transport;
      return { [`${kind}Settings`]: said(settings) };
    }
    case 'grpc': {
      const { kind: _kind, ...settings } = transport;
      return { grpcSettings: said(settings) };
    }
    case 'xhttp':
      return { xhttpSettings: xhttpSettings(transport) };
    case 'kcp':
      // What disguises its packets is a mask.
      return { kcpSettings: said({ mtu: transport.mtu, tti: transport.tti }) };
    case 'own':
      return {};
  }
}

/** `network` with its settings, and what lies below. */
export const transportOf = ({ transport, security }: EntryTemplate): Settings => ({
  network: transport.kind,
  ...transportSettings(transport),
  ...securityOf(security),
});
