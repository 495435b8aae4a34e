// HTTP calls of plugins to other machines, with limits and a guard against private addresses.
import { extensionPoint, token } from '../../kernel/index.js';
import { accessProblem } from './access-problem.js';

/** Limits of one call. */
export interface CallLimits {
  /** until the connection stands, TLS included; 10 s */
  readonly connectMs: number;
  /** from the start of each request until the reply begins; 30 s */
  readonly firstByteMs: number;
  /** for the whole call: waiting for a turn, redirects, and the body until it is read; 60 s, at most an hour */
  readonly wholeMs: number;
  /** of the reply's body, counted after decompression; 10 MiB, at most 1 GiB */
  readonly maxBytes: number;
  /** that are followed; 5, at most 20 */
  readonly redirects: number;
}

/** What a plugin may call. Contribute it to `OutgoingHosts`, then give the same object to `Outgoing.for`. */
export interface OutgoingAccess {
  /**
   * Each is `example.com`, `*.example.com` (all below it), an address, any of these with `:port`, or a URL, of which host
   * and port count. A function is asked at each call: for hosts that an admin enters in a setting.
   */
  readonly hosts: readonly string[] | (() => readonly string[]);
  readonly limits?: Partial<CallLimits>;
}
/** Which hosts plugins call. */
export const OutgoingHosts = extensionPoint<OutgoingAccess>('outgoing', 'OutgoingHosts', accessProblem);

export interface CallOptions {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: string | Uint8Array | URLSearchParams | FormData | Blob;
  readonly signal?: AbortSignal;
  /** `follow` by default; `error` rejects, `manual` returns the redirect */
  readonly redirect?: 'follow' | 'error' | 'manual';
  readonly limits?: Partial<CallLimits>;
}
/**
 * Like the global `fetch`. Rejects with an `OutgoingError`, or with the reason of `signal`. The body is streamed: reading
 * it rejects in the same way. Read the body or cancel it; until then the call holds one of the plugin's turns.
 */
export type OutgoingFetch = (url: string | URL, options?: CallOptions) => Promise<Response>;

export interface OutgoingApi {
  /** A `fetch` with the rights of this access. */
  for(access: OutgoingAccess): OutgoingFetch;
}
export const Outgoing = token<OutgoingApi>('outgoing', 'Outgoing');

/**
 * `url`: not a URL to call, or options that no call can have; `host`: not in the plugin's list; `address`: private or the
 * panel's own; `redirect`: too many, or from HTTPS to HTTP; `time` and `size`: a limit; `busy`: too many calls of this
 * plugin; `network`: no connection, or a broken reply.
 */
export type OutgoingCode = 'url' | 'host' | 'address' | 'redirect' | 'time' | 'size' | 'busy' | 'network';

/** Why a call failed. The sentence names the host and the way out, and nothing else of the URL: that may hold secrets. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly code: OutgoingCode;

  constructor(code: OutgoingCode, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
