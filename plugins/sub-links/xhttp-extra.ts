// XHTTP in links: path, host and mode as parameters, everything else as JSON (`extra`). Source: XTLS/Xray-core discussion 4113.
import type { Reality, Security, Tls, XhttpDownload, XhttpTransport } from '../inbounds/contract.js';

type Way = Omit<XhttpTransport, 'download'>;

/** Defaults of every client; naming them would only make the link recognisable. */
const UNSAID: Readonly<Record<string, string>> = {
  scMaxEachPostBytes: '1000000',
  scMinPostsIntervalMs: '30',
};
/** Newer programs read the first name, this core and older programs the second. */
const LEGACY = [
  ['sessionIDPlacement', 'sessionPlacement'],
  ['sessionIDKey', 'sessionKey'],
] as const;

const isSaid = (key: string, value: unknown): boolean =>
  ![undefined, '', 0, false].includes(value as never) && String(value) !== UNSAID[key];

const saidOf = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([key, value]) => isSaid(key, value)));

/** Empty when a client needs only path, host and mode. */
export function extraOf(transport: XhttpTransport): Record<string, unknown> {
  const { kind: _kind, path: _path, host: _host, download, ...fields } = transport;
  return {
    ...saidOf(fields),
    ...Object.fromEntries(
      LEGACY.filter(([name]) => isSaid(name, fields[name])).map(([name, legacy]) => [legacy, fields[name]]),
    ),
    ...(download && { downloadSettings: downloadSettings(download) }),
  };
}

export const xhttpParams = ({ path, host, mode, xPaddingBytes }: XhttpTransport) => ({
  path,
  host,
  mode,
  x_padding_bytes: isSaid('xPaddingBytes', xPaddingBytes) ? String(xPaddingBytes) : undefined,
});

function downloadSettings({ server, port, transport, security }: XhttpDownload): object {
  const { path, host, mode }: Way = transport;
  const { mode: _mode, ...extra } = extraOf(transport);
  return {
    address: server,
    port,
    network: 'xhttp',
    security: security.kind,
    ...securitySettings(security),
    xhttpSettings: { path, host, ...(mode !== undefined && { mode }), ...extra },
  };
}

/** In the form of a client's own config. Source: xtls.github.io, TLSObject and RealityObject. */
function securitySettings(security: Security): object {
  if (security.kind === 'none') return {};
  const { kind, ...fields } = security as Tls | Reality;
  if (kind === 'reality') return { realitySettings: fields };
  const { pinnedPeerCertSha256: pins, ...tls } = fields as Omit<Tls, 'kind'>;
  return { tlsSettings: { ...tls, ...(pins && { pinnedPeerCertSha256: pins.join(',') }) } };
}

/** Sorted keys, no spaces: these parts of a link are compared as text. */
export function compactJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
