// Looks at one server: a handshake, and what REALITY needs of it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { canonicalAddress } from '../../kernel/index.js';
import { plainAddress, reachOf } from '../core-guard/contract.js';
import { CalledHosts, type OutgoingAccess, type OutgoingApi, OutgoingError } from '../outgoing/contract.js';
import { type Certificate, certificateOf } from './certificate.js';
import { type Failure, failureOf, MOST_BYTES } from './failure.js';
import { isX25519, keyExchangeOf, ONLY_X25519, REFUSED_ALL, WITH_OTHERS } from './key-exchange.js';
import { type ScanResult, unknownResult } from './scan-result.js';
import { type HeaderVersion, proxyHeader } from './proxy-header.js';
import { placeOf, type Target } from './target.js';

/** A plugin may make so many calls a minute. */
const BUSY_MS = 250;
/** A second handshake gets what the first one left, and at least this. */
const LEAST_MS = 1000;

export interface ProbeOptions {
  /** the name to ask for; by default that of the target, and none for an address */
  readonly name?: string | undefined;
  /** of the header of the PROXY protocol that is sent first; 0 for none */
  readonly header?: HeaderVersion;
  /** Also addresses that are not public: an admin says so for this server. */
  readonly allowPrivate?: boolean;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}
interface Shaken {
  readonly socket: TLSSocket;
  readonly latencyMs: number;
}

export class Prober {
  readonly #outgoing: OutgoingApi;
  readonly #hosts = new CalledHosts();
  readonly access: OutgoingAccess = { hosts: this.#hosts.list };

  constructor(outgoing: OutgoingApi) {
    this.#outgoing = outgoing;
  }

  /** A server that fails is a result; rejects only with the reason of the signal. */
  async probe(target: Target, options: ProbeOptions): Promise<ScanResult> {
    const { name, limitMs } = options;
    const { host, isAddress, port } = target;
    const asked = name ?? (isAddress ? undefined : host);
    const blank = unknownResult(placeOf(host, port), asked ?? host, port, isAddress ? host : '');
    const result = { ...blank, privateTarget: isAddress && isPrivate(host) };
    const end = performance.now() + limitMs;
    const shake = (groups: string, ms: number) =>
      this.#shake(target, groups, { ...options, name: asked, limitMs: ms });

    const first = await shake(ONLY_X25519, limitMs);
    if ('socket' in first) return this.#seen(result, target, asked, first);
    if (!first.mayBeGroups) return failed(result, first);
    const second = await shake(WITH_OTHERS, Math.max(LEAST_MS, Math.round(end - performance.now())));
    if ('socket' in second) return this.#seen(result, target, asked, second);
    return failed(result, second.mayBeGroups ? { ...second, reason: REFUSED_ALL } : second);
  }

  async #shake(
    { host, port }: Target,
    groups: string,
    { name, header = 0, allowPrivate = false, limitMs, signal }: ProbeOptions,
  ): Promise<Shaken | Failure> {
    const place = placeOf(host, port);
    for (;;) {
      const start = performance.now();
      try {
        const socket = await this.#hosts.during(place, () =>
          this.#outgoing.handshake(this.access, place, {
            ALPNProtocols: ['h2', 'http/1.1'],
            ecdhCurve: groups,
            minVersion: 'TLSv1.2',
            ...(name !== undefined && { servername: name }),
            ...(header !== 0 && { before: (connection) => proxyHeader(connection, header) }),
            allowPrivate,
            limits: { connectMs: limitMs, wholeMs: limitMs + LEAST_MS, maxBytes: MOST_BYTES },
            signal,
          }),
        );
        return { socket, latencyMs: Math.max(1, Math.round(performance.now() - start)) };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof OutgoingError)) throw error;
        if (error.code !== 'busy') return failureOf(error, limitMs / 1000);
      }
      await sleep(BUSY_MS, undefined, { signal });
    }
  }

  #seen(
    result: ScanResult,
    { port }: Target,
    asked: string | undefined,
    { socket, latencyMs }: Shaken,
  ): ScanResult {
    const certificate = certificateOf(socket);
    const protocol = socket.getProtocol() ?? '';
    const alpn = socket.alpnProtocol || '';
    const curveID = keyExchangeOf(socket);
    // The port of a proxy is another one; its address says nothing of the server.
    const ip =
      result.ip || (socket.remotePort === port && canonicalAddress(socket.remoteAddress ?? '')) || '';
    socket.destroy();
    const found = asked ?? certificate?.ownName;
    const seen: ScanResult = {
      ...result,
      ...(asked === undefined && found !== undefined && { target: placeOf(found, port), host: found }),
      ip,
      privateTarget: result.privateTarget || (ip !== '' && isPrivate(ip)),
      tlsVersion: protocol.replace(/^TLSv/, ''),
      tls13: protocol === 'TLSv1.3',
      alpn,
      h2: alpn === 'h2',
      curveID,
      x25519: isX25519(curveID),
      ...(certificate && {
        certSubject: certificate.subject,
        certIssuer: certificate.issuer,
        notAfter: certificate.notAfter,
        serverNames: [...certificate.names],
        certChainValid: certificate.problem === undefined,
        certValid: certificate.problem === undefined && found !== undefined && certificate.isFor(found),
        certChainBytes: certificate.chainBytes,
      }),
      latencyMs,
    };
    const reason = shortcomings(seen, certificate, found).join('; ');
    return { ...seen, feasible: reason === '', reason };
  }
}

const isPrivate = (address: string): boolean => reachOf(plainAddress(address)) !== 'public';

const failed = (result: ScanResult, { reason, isPrivate: isRefused }: Failure): ScanResult => ({
  ...result,
  privateTarget: result.privateTarget || isRefused,
  reason,
});

function shortcomings(
  seen: ScanResult,
  certificate: Certificate | undefined,
  found: string | undefined,
): string[] {
  const { certValid, tls13, tlsVersion, h2, x25519, curveID } = seen;
  const all: (string | false)[] = [
    !certificate
      ? 'the server shows no certificate'
      : certificate.problem !== undefined
        ? `the certificate is not trusted: ${certificate.problem}`
        : found === undefined
          ? 'the certificate has no domain name'
          : !certValid && `the certificate is not for ${found}`,
    !tls13 && `the server does not use TLS 1.3, but ${tlsVersion}`,
    !h2 && 'the server does not offer h2',
    !x25519 && `the key exchange is not X25519, but ${curveID || 'one without a curve'}`,
  ];
  return all.filter((text) => text !== false);
}
