// What each field of a host does to the entry of its inbound.
import {
  type EntryTemplate,
  type FinalMask,
  isOf,
  type Mux,
  type SocketOptions,
  type Tls,
  type Transport,
} from '../inbounds/contract.js';
import type { Way } from '../subscription/contract.js';
import type { HostFields } from './fields.js';
import { readMask, readMux, readSocket, valueIn } from './json-texts.js';

/** A group, and one of its rows. */
export interface WayHost {
  readonly groupId: string;
  readonly fields: HostFields;
  /** empty: the inbound's own */
  readonly address: string;
  /** 0: the inbound's own */
  readonly port: number;
}

/** The names that the API has for formats of this tree. */
const FORMATS: Readonly<Record<string, string>> = { raw: 'links' };
const formatOf = (subType: string): string => FORMATS[subType] ?? subType;

/** The fields that have a value. */
const given = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== '' && (!Array.isArray(value) || value.length > 0)),
  ) as Partial<T>;

/** The name that replaces the inbound's; undefined: it stays. An empty one stands for the host of the request, which the client takes by itself. */
function nameFor(
  { keepSniBlank, overrideSniFromAddress, sni }: HostFields,
  server: string,
): string | undefined {
  if (keepSniBlank) return undefined;
  if (overrideSniFromAddress) return server;
  return sni === '' ? undefined : sni;
}

function securityFor(
  base: EntryTemplate['security'],
  fields: HostFields,
  server: string,
): EntryTemplate['security'] {
  if (fields.security === 'none') return { kind: 'none' };
  const serverName = nameFor(fields, server);
  const { fingerprint } = fields;
  // Only the inbound has the keys of REALITY, so a host can neither bring it along nor take its place with TLS by `same`.
  if (base.kind === 'reality' && fields.security !== 'tls')
    return {
      ...base,
      ...given({ serverName: serverName ?? '', fingerprint }),
      ...(fields.altX25519 && { x25519mlkem768: true }),
    };
  if (base.kind === 'none' && fields.security !== 'tls') return base;
  const { alpn, pinnedPeerCertSha256, verifyPeerCertByName, echConfigList, cipherSuites } = fields;
  const { serverName: baseName, ...own }: Tls = base.kind === 'tls' ? base : { kind: 'tls' };
  const name = serverName ?? baseName;
  return {
    ...own,
    ...given({ fingerprint, alpn, pinnedPeerCertSha256, verifyPeerCertByName, echConfigList, cipherSuites }),
    ...(name !== undefined && (name !== '' || serverName === undefined) && { serverName: name }),
    ...(fields.allowInsecure && { allowInsecure: true }),
  };
}

/** gRPC calls the header `:authority`, and has no path of its own. */
function transportFor(base: Transport, { path, hostHeader }: HostFields): Transport {
  switch (base.kind) {
    case 'ws':
    case 'httpupgrade':
    case 'xhttp':
      return { ...base, ...given({ path, host: hostHeader }) };
    case 'tcp':
      return base.http
        ? {
            ...base,
            http: { ...base.http, ...given({ paths: path === '' ? [] : [path], host: hostHeader }) },
          }
        : base;
    case 'grpc':
      return { ...base, ...given({ authority: hostHeader }) };
    default:
      return base;
  }
}

/** Its masks come after those of the inbound. */
function maskFor(base: FinalMask | undefined, own: FinalMask | undefined): FinalMask | undefined {
  if (!base || !own) return own ?? base;
  const [tcp, udp] = [
    [...(base.tcp ?? []), ...(own.tcp ?? [])],
    [...(base.udp ?? []), ...(own.udp ?? [])],
  ];
  const udpHop = base.udpHop ?? own.udpHop;
  return { ...given({ tcp, udp }), ...(udpHop && { udpHop }) };
}

/** Said, because formats may have a setting for entries that say nothing. */
const NO_MUX: Mux = { concurrency: -1, xudpConcurrency: -1 };

/** XTLS Vision over plain TCP needs TLS or REALITY right below it. */
function accountFor({ account, transport }: EntryTemplate, security: string): EntryTemplate['account'] {
  return account.protocol === 'vless' && transport.kind === 'tcp' && security === 'none'
    ? { ...account, flow: '' }
    : account;
}

interface ReadTexts {
  readonly mux: Mux | 'off' | undefined;
  readonly finalMask: FinalMask | undefined;
  readonly socket: SocketOptions | undefined;
}
/** A long text takes milliseconds to read, and a group has hundreds of rows. */
const readTexts = new WeakMap<HostFields, ReadTexts>();
function textsOf(fields: HostFields): ReadTexts {
  let texts = readTexts.get(fields);
  if (!texts) {
    texts = {
      mux: valueIn(readMux(fields.muxParams)),
      finalMask: valueIn(readMask(fields.finalMask)),
      socket: valueIn(readSocket(fields.sockoptParams)),
    };
    readTexts.set(fields, texts);
  }
  return texts;
}

export function entryFor(entry: EntryTemplate, { fields, address, port }: WayHost): EntryTemplate {
  const server = address || entry.server;
  const security = securityFor(entry.security, fields, server);
  const { mux: baseMux, finalMask: baseMask, ...base } = entry;
  const { mux: ownMux, finalMask: ownMask, socket } = textsOf(fields);
  const mux = ownMux === 'off' ? NO_MUX : (ownMux ?? baseMux);
  const finalMask = maskFor(baseMask, ownMask);
  const { vlessRoute, altIpVersion, serverDescription } = fields;
  return {
    ...base,
    server,
    port: port || entry.port,
    account: accountFor(entry, security.kind),
    transport: transportFor(entry.transport, fields),
    security,
    ...(vlessRoute !== '' && isOf(entry, 'vless') && { vlessRoute: Number(vlessRoute) }),
    ...(mux && { mux }),
    ...(finalMask && { finalMask }),
    ...(socket && { socket }),
    ...(altIpVersion !== '' && { ipVersion: altIpVersion }),
    ...(serverDescription !== '' && { description: serverDescription }),
  };
}

/** The way of one row. */
export function wayFor(entry: EntryTemplate, host: WayHost): Way {
  const { remark, isHidden, shuffleHost, excludeFromSubTypes } = host.fields;
  return {
    hostRemark: remark,
    entry: entryFor(entry, host),
    notIn: excludeFromSubTypes.map(formatOf),
    hidden: isHidden,
    ...(shuffleHost && { shuffle: host.groupId }),
  };
}
