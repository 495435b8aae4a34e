// The way down of XHTTP, where it is another one than the way up. It stands in an inbound as a client's stream settings,
// for only the client's side uses it. Source: XTLS/Xray-core discussion 4113, `downloadSettings`.
import type { Reality, Security, Tls } from '../entry/security.js';
import type { XhttpDownload } from '../entry/transport.js';
import { tlsEntry } from './tls.js';
import { objectOf, type Settings, textOf } from './transport.js';
import { wayOf } from './xhttp-way.js';

/** A client's own TLS settings have on one level what an inbound has on two. */
const tlsOf = (tls: Settings): Tls => ({
  ...tlsEntry({ ...tls, settings: tls }),
  ...(tls['allowInsecure'] === true && { allowInsecure: true }),
});

function realityOf(reality: Settings): Reality {
  const mldsa65Verify = textOf(reality['mldsa65Verify']);
  return {
    kind: 'reality',
    serverName: textOf(reality['serverName']),
    shortId: textOf(reality['shortId']),
    publicKey: textOf(reality['publicKey']) || textOf(reality['password']),
    fingerprint: textOf(reality['fingerprint']) || 'chrome',
    spiderX: textOf(reality['spiderX']),
    ...(mldsa65Verify && { mldsa65Verify }),
  };
}

function securityOf(stream: Settings): Security {
  if (stream['security'] === 'tls') return tlsOf(objectOf(stream['tlsSettings']));
  if (stream['security'] === 'reality') return realityOf(objectOf(stream['realitySettings']));
  return { kind: 'none' };
}

/** Undefined when there is none, or none that a client could reach. */
export function downloadOf(stream: Settings): XhttpDownload | undefined {
  const server = textOf(stream['address']);
  const port = Number(stream['port']);
  if (server === '' || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return {
    server,
    port,
    transport: wayOf(objectOf(stream['xhttpSettings'] ?? stream['splithttpSettings'])),
    security: securityOf(stream),
  };
}
