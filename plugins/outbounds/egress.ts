// The address under which servers see an outbound, as Cloudflare says it: asked over IPv4 and over IPv6.
import { canonicalAddress } from '../../kernel/index.js';
import { reach } from './through-core.js';

/** Blank for what is not known. */
export interface Egress {
  readonly ipv4: string;
  readonly ipv6: string;
  /** two letters */
  readonly country: string;
  /** `off`, `on` or `plus` */
  readonly warp: string;
}
/** Addresses that answer with lines such as `ip=…`; each reachable over one kind of IP only. */
export interface Traces {
  readonly ipv4: URL;
  readonly ipv6: URL;
}
/** With an address in place of a name, the far end cannot choose the kind of IP. */
export const TRACES: Traces = {
  ipv4: new URL('https://1.1.1.1/cdn-cgi/trace'),
  ipv6: new URL('https://[2606:4700:4700::1111]/cdn-cgi/trace'),
};

/** Of both together; an outbound without IPv6 often just does not answer. */
const LIMIT_MS = 3_000;
/** A real reply has 300 bytes. */
const LONGEST_TRACE = 4_096;

interface Through {
  readonly socket: string;
  readonly login: string;
  readonly traces: Traces;
  /** ms; less in tests */
  readonly limit?: number;
}
interface Seen {
  readonly address: string;
  readonly country: string;
  readonly warp: string;
}

/** Returns what a trace says; undefined where it has no address of this kind. Other fields that make no sense are blank. */
export function seenIn(text: string, isIPv6: boolean): Seen | undefined {
  if (text.length > LONGEST_TRACE) return undefined;
  const fields = new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, Math.max(at, 0)), line.slice(at + 1).trim()] as const;
    }),
  );
  const address = canonicalAddress(fields.get('ip') ?? '');
  if (address === undefined || address.includes(':') !== isIPv6) return undefined;
  const field = (name: string, pattern: RegExp): string => {
    const value = fields.get(name) ?? '';
    return pattern.test(value) ? value : '';
  };
  return { address, country: field('loc', /^[A-Z][A-Z0-9]$/), warp: field('warp', /^[a-z]{1,16}$/) };
}

/** Resolves with undefined where nothing answers. Never rejects. */
export async function egressOf(
  { socket, login, traces, limit = LIMIT_MS }: Through,
  signal: AbortSignal,
): Promise<Egress | undefined> {
  const ask = async (url: URL, isIPv6: boolean): Promise<Seen | undefined> => {
    try {
      return await reach({ socket, login, url, limit }, signal, async (reached, inTime) => {
        const { status, body } = await inTime(reached.ask());
        const text = status === 200 ? await inTime(body) : undefined;
        return text === undefined ? undefined : seenIn(text, isIPv6);
      });
    } catch {
      return undefined;
    }
  };
  const [v4, v6] = await Promise.all([ask(traces.ipv4, false), ask(traces.ipv6, true)]);
  const seen = v4 ?? v6;
  if (!seen) return undefined;
  const { country, warp } = seen;
  return { ipv4: v4?.address ?? '', ipv6: v6?.address ?? '', country, warp };
}
