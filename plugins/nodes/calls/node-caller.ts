// Calls the API of a node: by the TLS mode of its record, at the address that was checked, with a limit for everything.
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { TimeSlice } from '../../../kernel/index.js';
import type { CallOptions, OutgoingAccess, OutgoingApi, OutgoingFetch } from '../../outgoing/contract.js';
import type { Json } from '../contract.js';
import type { ClientCertificates } from '../mtls/client-certificates.js';
import type { NodeTarget } from '../model.js';
import { callError, mayExpectTls, NodeCallError } from './call-error.js';
import { digestOfPin } from './pin.js';
import { envelopeOf, type NodeReply } from './reply.js';
import { whyNotParsed } from './reply-scan.js';

export interface CallLimits {
  /** ms for the whole call; default 10,000 */
  readonly timeoutMs?: number | undefined;
  /** bytes of the reply; default 8 MiB */
  readonly maxBytes?: number | undefined;
}
export interface NodeCallOptions extends CallLimits {
  readonly method?: 'GET' | 'POST' | undefined;
  readonly json?: Json | undefined;
  /** the panel there takes bodies that are compressed with gzip: Weir does, others may not */
  readonly takesGzip?: boolean | undefined;
  /** fields, or a body that is encoded already */
  readonly form?: Readonly<Record<string, string>> | Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}
const compressed = promisify(gzip);
/** A packet of the network holds less. */
const LEAST_GZIP = 1_400;
const USUAL_MS = 10_000;
const MOST_DENIALS = 1_000;
const MOST_BYTES = 8 * 1024 * 1024;
/** Heartbeats and synchronising of hundreds of nodes. */
const QUOTA = { atOnce: 64, perMinute: 12_000 } as const;
/** Shorter calls have places of their own: nodes that answer slowly to others would make all nodes seem offline. */
const BRIEF_MS = 6_000;

const hostOf = ({ address, port }: Pick<NodeTarget, 'address' | 'port'>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

export class NodeCaller {
  readonly access: OutgoingAccess;
  /** of heartbeats and polls */
  readonly briefAccess: OutgoingAccess;
  readonly #outgoing: OutgoingApi;
  readonly #certificates: ClientCertificates;
  readonly #fetch: OutgoingFetch;
  readonly #briefFetch: OutgoingFetch;
  /** Outgoing asks for the hosts before its call returns, so the list of all nodes is not read for each. */
  #calling: readonly string[] = [];
  /** By host and port. A connection was opened before the node trusted this panel, so after a denial the next call opens another one. */
  readonly #denials = new Map<string, number>();

  constructor({ outgoing, certificates }: { outgoing: OutgoingApi; certificates: ClientCertificates }) {
    this.#outgoing = outgoing;
    this.#certificates = certificates;
    this.access = { hosts: () => this.#calling, quota: QUOTA };
    this.briefAccess = { ...this.access };
    this.#fetch = outgoing.for(this.access);
    this.#briefFetch = outgoing.for(this.briefAccess);
  }

  /** `path` has no leading slash. Rejects with a NodeCallError. */
  async call(target: NodeTarget, path: string, options: NodeCallOptions = {}): Promise<NodeReply> {
    if (target.tlsVerifyMode !== 'mtls' || target.scheme === 'http')
      return this.#attempt(target, path, options, undefined);
    // A node may trust only one of two authorities while they change.
    const [first, second] = this.#certificates.of(target.id);
    if (!first)
      throw new NodeCallError('here', 'there is no authority for mtls yet; POST nodes/mtls/ca creates it');
    try {
      return await this.#attempt(target, path, options, first);
    } catch (error) {
      const isRefused = error instanceof NodeCallError && ['denied', 'unreachable'].includes(error.code);
      if (!second || !isRefused) throw error;
      const reply = await this.#attempt(target, path, options, second);
      this.#certificates.prefer(target.id, second);
      return reply;
    }
  }

  async #attempt(
    target: NodeTarget,
    path: string,
    {
      method = 'GET',
      json,
      takesGzip = false,
      form,
      headers,
      signal,
      timeoutMs = USUAL_MS,
      maxBytes = MOST_BYTES,
    }: NodeCallOptions,
    clientCertificate: { readonly cert: string; readonly key: string } | undefined,
  ): Promise<NodeReply> {
    const { scheme, basePath, apiToken, allowPrivateAddress, outboundTag } = target;
    const pin = this.#pinOf(target);
    const sent = json === undefined ? undefined : JSON.stringify(json);
    const packed = takesGzip && sent !== undefined && sent.length >= LEAST_GZIP;
    const options: CallOptions = {
      method,
      headers: {
        accept: 'application/json',
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...(packed && { 'content-encoding': 'gzip' }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }),
        ...(apiToken !== '' && { authorization: `Bearer ${apiToken}` }),
        ...headers,
      },
      ...(sent !== undefined && {
        body: packed ? await compressed(sent, { level: constants.Z_BEST_SPEED }) : sent,
      }),
      ...(form && { body: form instanceof Uint8Array ? form : new URLSearchParams(form) }),
      redirect: 'error',
      keepAlive: String(this.#denials.get(hostOf(target)) ?? 0),
      allowPrivate: allowPrivateAddress,
      allowInsecure: target.tlsVerifyMode === 'skip',
      limits: { wholeMs: timeoutMs, connectMs: timeoutMs, firstByteMs: timeoutMs, maxBytes },
      ...(outboundTag !== '' && { outboundTag }),
      ...(pin && { pinnedSha256: pin }),
      ...(clientCertificate && { clientCertificate }),
      ...(signal && { signal }),
    };
    const since = performance.now();
    const fetch = timeoutMs <= BRIEF_MS ? this.#briefFetch : this.#fetch;
    try {
      const response = await this.#calls(target, () =>
        fetch(`${scheme}://${hostOf(target)}${basePath}${path}`, options),
      );
      const text = await response.text();
      const reply = { status: response.status, headers: response.headers, ms: performance.now() - since };
      // Replies of many nodes come together, and each is parsed in one piece.
      await new TimeSlice().next();
      const problem = await whyNotParsed(text, maxBytes);
      if (problem !== undefined)
        throw new NodeCallError('limit', `the reply of ${hostOf(target)} to ${path} ${problem}`);
      return { ...reply, obj: envelopeOf(target, path, response, text) };
    } catch (error) {
      const failure = callError(error, target);
      if (failure.code === 'denied') this.#denied(hostOf(target));
      throw failure;
    }
  }

  #denied(host: string): void {
    const [oldest] = this.#denials.keys();
    if (oldest !== undefined && this.#denials.size >= MOST_DENIALS) this.#denials.delete(oldest);
    this.#denials.set(host, (this.#denials.get(host) ?? 0) + 1);
  }

  #pinOf({ scheme, tlsVerifyMode, pinnedCertSha256 }: NodeTarget): Uint8Array | undefined {
    const isPinned = tlsVerifyMode === 'pin' || (tlsVerifyMode === 'mtls' && pinnedCertSha256 !== '');
    return scheme === 'https' && isPinned ? digestOfPin(pinnedCertSha256) : undefined;
  }

  #calls<T>(target: NodeTarget, call: () => Promise<T>): Promise<T> {
    this.#calling = [hostOf(target)];
    const called = call();
    this.#calling = [];
    return called;
  }

  /** The leaf certificate of the server, whatever it is. Rejects with a NodeCallError. */
  async certificate(target: NodeTarget, timeoutMs: number): Promise<Buffer> {
    try {
      const socket = await this.#calls(target, () =>
        this.#outgoing.handshake(this.access, hostOf(target), {
          allowPrivate: target.allowPrivateAddress,
          outboundTag: target.outboundTag,
          limits: { connectMs: timeoutMs, wholeMs: timeoutMs, maxBytes: 256 * 1024 },
        }),
      );
      const raw = socket.getPeerX509Certificate()?.raw;
      socket.destroy();
      if (raw) return raw;
      throw new NodeCallError('reply', 'the server has no certificate');
    } catch (error) {
      throw callError(error, { ...target, scheme: 'https' });
    }
  }

  /** Finds out whether a server that failed with http expects https. */
  async explained(error: NodeCallError, target: NodeTarget, timeoutMs: number): Promise<NodeCallError> {
    if (target.scheme !== 'http' || !mayExpectTls(error.cause ?? error)) return error;
    const speaksTls = await this.certificate(target, timeoutMs).then(
      () => true,
      () => false,
    );
    if (!speaksTls) return error;
    return new NodeCallError('unreachable', `${hostOf(target)} speaks https, not http; change the scheme`);
  }
}
