// HTTP calls of plugins to other machines, with limits and a guard against private addresses.
import type { Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { extensionPoint, token } from '../../kernel/index.js';
import { accessProblem } from './access-problem.js';

export { CalledHosts } from './called-hosts.js';
export { holdingOpen } from './holding-open.js';

/** Limits of one call. */
export interface CallLimits {
  /** ms until the connection is open, TLS included; default 10,000 */
  readonly connectMs: number;
  /** ms from the start of each request until the reply begins; default 30,000 */
  readonly firstByteMs: number;
  /** ms for the whole call: the queue, redirects, and the body until it is read; default 60,000, at most an hour */
  readonly wholeMs: number;
  /** size of the reply's body after decompression; default 10 MiB, at most 1 GiB */
  readonly maxBytes: number;
  /** number of redirects that are followed; default 5, at most 20 */
  readonly redirects: number;
}

/** The hosts that a plugin calls, and the limits. Contribute it to `OutgoingHosts`, then give the same object to `Outgoing.for`. */
export interface OutgoingAccess {
  /**
   * Each entry is `example.com`, `*.example.com` (all hosts below it), an address, any of these with `:port`, or a URL, of
   * which only host and port are used. A function is called for each request: for hosts that an admin enters in a setting.
   */
  readonly hosts: readonly string[] | (() => readonly string[]);
  readonly limits?: Partial<CallLimits>;
  /** For a plugin that calls many hosts again and again, or whose callers each have a limit of their own; not for third-party plugins. */
  readonly quota?: CallQuota;
}
/** Calls of one plugin. */
export interface CallQuota {
  /** default 8, at most 256 */
  readonly atOnce: number;
  /** default 300, at most 60,000 */
  readonly perMinute: number;
}
/** The hosts that plugins call. */
export const OutgoingHosts = extensionPoint<OutgoingAccess>('outgoing', 'OutgoingHosts', accessProblem);

/** A SOCKS 5 server on this machine that looks names up itself. */
export interface LocalProxy {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
}
/** A way for the calls of all plugins. It is not asked for calls that may reach private addresses, nor for handshakes. */
export interface WayOut {
  /** Returns undefined for a direct call. Called before each call, so answer from memory. */
  proxy(): LocalProxy | undefined;
  /** The way by an outbound of the core, for calls with `outboundTag`. Rejects with a sentence that names what is missing. */
  through?(outboundTag: string): Promise<LocalProxy>;
}
/** Ways for the calls of plugins; the first that has a proxy is used. `WEIR_OUTGOING_PROXY` takes precedence. */
export const WaysOut = extensionPoint<WayOut>('outgoing', 'WaysOut', ({ proxy }) =>
  typeof proxy === 'function' ? undefined : 'it needs the function proxy',
);

export interface CallOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: string | Uint8Array | URLSearchParams | FormData | Blob;
  readonly signal?: AbortSignal;
  /** `follow` by default; `error` rejects, `manual` returns the redirect */
  readonly redirect?: 'follow' | 'error' | 'manual';
  readonly limits?: Partial<CallLimits>;
  /** Also addresses that are not public, but not the panel's own listeners: only where an admin has permitted it for this server. */
  readonly allowPrivate?: boolean;
  /** Proxy of this call, in the form of `WEIR_OUTGOING_PROXY` and in its place; blank for none of its own. */
  readonly proxy?: string;
  /** Any certificate is taken: only where an admin has permitted it for this server. */
  readonly allowInsecure?: boolean;
  /** PEM of authorities whose certificates are taken beside those of public ones: only where an admin has named them for this server. */
  readonly authorities?: string;
  /** SHA-256 of the one certificate that is taken, whoever issued it; nothing is sent to a server that has another one. */
  readonly pinnedSha256?: Uint8Array;
  /** PEM of what the server gets when it asks who calls. */
  readonly clientCertificate?: { readonly cert: string; readonly key: string };
  /** Leaves the connection open for the next call of this plugin with the same options, this text among them. */
  readonly keepAlive?: string;
  /** Tag of the outbound of the core by which the call leaves; it fails when there is none. Names are resolved and checked here. */
  readonly outboundTag?: string;
}
/**
 * Like the global `fetch`. Rejects with an `OutgoingError`, or with the reason of `signal`. The body is streamed: reading
 * it rejects in the same way. Read or cancel the body; until then the call counts as open (8 per plugin).
 */
export type OutgoingFetch = (url: string | URL, options?: CallOptions) => Promise<Response>;

export interface HandshakeOptions
  extends Pick<ConnectionOptions, 'ALPNProtocols' | 'ecdhCurve' | 'minVersion' | 'servername'>,
    Pick<CallOptions, 'allowPrivate' | 'outboundTag'> {
  readonly signal?: AbortSignal;
  /** Bytes that are sent before the handshake, such as a header of the PROXY protocol. */
  readonly before?: (connection: Socket) => Uint8Array;
  /**
   * `connectMs` is the time until the handshake is over, `maxBytes` what the server may send until then, and `wholeMs` the
   * time until the socket is closed.
   */
  readonly limits?: Partial<CallLimits>;
}

export interface OutgoingApi {
  /** Returns a `fetch` for the hosts and limits of this access. */
  for(access: OutgoingAccess): OutgoingFetch;
  /**
   * Opens a TLS connection to `example.com`, `example.com:8443`, an address or `[address]:port`; without a port, 443.
   * Resolves after the handshake, whatever certificate the server has: look at `authorized` and `getPeerCertificate`.
   * Destroy the socket; until then it counts as a call that is open. Rejects as `OutgoingFetch` does.
   */
  handshake(access: OutgoingAccess, server: string, options?: HandshakeOptions): Promise<TLSSocket>;
}
export const Outgoing = token<OutgoingApi>('outgoing', 'Outgoing');

/**
 * Reasons of a failed call. `url`: not a valid URL, or invalid options; `host`: not in the plugin's list; `address`: private
 * or the panel's own; `redirect`: too many, or from HTTPS to HTTP; `time` and `size`: over a limit; `busy`: too many calls of
 * this plugin; `network`: no connection, or a broken reply; `certificate`: not the pinned one; `outbound`: no such way out.
 */
export type OutgoingCode =
  | 'url'
  | 'host'
  | 'address'
  | 'redirect'
  | 'time'
  | 'size'
  | 'busy'
  | 'network'
  | 'certificate'
  | 'outbound';

/** A failed call. The message names the host and the fix, and nothing else of the URL, which may hold secrets. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly code: OutgoingCode;

  constructor(code: OutgoingCode, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
