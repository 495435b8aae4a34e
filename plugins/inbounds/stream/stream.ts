// `streamSettings`: checked here, stored unchanged.
import {
  annotate,
  inspect,
  type Issue,
  issuesAt,
  oneOf,
  optional,
  type Schema,
} from '../../../kernel/index.js';
import type { JsonObject } from '../../engine/contract.js';
import type { L4 } from '../contract.js';
import type { EntryTemplate } from '../entry/entry.js';
import { advanced, maybe, section } from '../form.js';
import { FinalMask, maskIssues } from './final-mask.js';
import { grpc } from './grpc.js';
import { hysteria } from './hysteria.js';
import { kcp } from './kcp.js';
import { realityEntry, RealitySettings } from './reality.js';
import { Sockopt } from './sockopt.js';
import { tcp } from './tcp.js';
import { certificateIssues, type ReadFile, tlsEntry, TlsSettings } from './tls.js';
import { objectOf, type Settings, type Transport } from './transport.js';
import { httpupgrade, ws } from './ws.js';
import { xhttp } from './xhttp.js';

export type Security = 'none' | 'tls' | 'reality';
/** A security under a transport. */
export interface SecurityKind {
  readonly name: Security;
  readonly title: string;
  /** its key in `streamSettings`, and what stands there */
  readonly own?: { readonly key: string; readonly settings: Schema };
  /** networks under which the core starts it; without it, all */
  readonly under?: readonly string[];
}

export const TRANSPORTS: readonly Transport[] = [tcp, ws, grpc, httpupgrade, xhttp, kcp, hysteria];
export const SECURITIES: readonly SecurityKind[] = [
  { name: 'none', title: 'None' },
  { name: 'tls', title: 'TLS', own: { key: 'tlsSettings', settings: TlsSettings } },
  {
    name: 'reality',
    title: 'REALITY',
    own: { key: 'realitySettings', settings: RealitySettings },
    under: ['tcp', 'grpc', 'xhttp'],
  },
];

const byName = new Map(
  TRANSPORTS.flatMap((transport) =>
    [transport.name, ...(transport.alias ? [transport.alias] : [])].map((name) => [name, transport] as const),
  ),
);
/** What a stream has beside the settings of its transport and its security. */
export const STREAM: Readonly<Record<'network' | 'security' | 'finalmask' | 'sockopt', Schema>> = {
  ...section('Transport', {
    network: annotate(optional(oneOf(...byName.keys())), { initial: tcp.name }),
    security: annotate(optional(oneOf(...SECURITIES.map(({ name }) => name))), { initial: 'none' }),
  }),
  ...advanced('Transport', { finalmask: maybe(FinalMask), sockopt: maybe(Sockopt) }),
};
const COMMON = Object.entries(STREAM);
/** Where these are wrong, it is unclear which other checks hold. */
const UNCLEAR = ['streamSettings.network', 'streamSettings.security'];

const transportOf = (stream: Settings): Transport =>
  byName.get((stream['network'] as string | undefined) ?? tcp.name) ?? tcp;
/** Of the transport that is chosen. */
const transportSettings = (stream: Settings): Settings =>
  objectOf(stream[transportOf(stream).keys.find((key) => key in stream) ?? '']);

/** Problems, with paths below `streamSettings`. Without `readFile`, files are not opened: another machine has them. */
export async function streamIssues(stream: Settings, readFile: ReadFile | undefined): Promise<Issue[]> {
  const common = COMMON.flatMap(([key, schema]) =>
    issuesAt(`streamSettings.${key}`, inspect(schema, stream[key])),
  );
  // Settings of other transports are checked too: they are stored, and may be chosen later.
  const issues = [
    ...common,
    ...TRANSPORTS.flatMap(({ keys, settings }) =>
      keys.flatMap((key) =>
        key in stream ? issuesAt(`streamSettings.${key}`, inspect(settings, stream[key])) : [],
      ),
    ),
    ...maskIssues(stream),
  ];
  if (common.some(({ path }) => UNCLEAR.includes(path))) return issues;
  const view = viewStream(stream);
  const { own, under } = SECURITIES.find(({ name }) => name === view.security) ?? {};
  if (!own) return issues;
  issues.push(...issuesAt(`streamSettings.${own.key}`, inspect(own.settings, stream[own.key] ?? {})));
  if (under && !under.includes(view.network))
    issues.push({
      path: 'streamSettings.security',
      message: `streamSettings.security: ${view.security} works over ${under.join(', ')}, not over ${view.network}`,
    });
  if (issues.length === 0 && view.security === 'tls')
    issues.push(...(await certificateIssues(objectOf(stream[own.key]), readFile)));
  return issues;
}

export interface StreamView {
  readonly network: string;
  readonly security: Security;
}
/** Of a stream that has passed `streamIssues`. */
export const viewStream = (stream: Settings): StreamView => ({
  network: transportOf(stream).name,
  security: (stream['security'] as Security | undefined) ?? 'none',
});

/** What the core listens on with this stream: HTTP/3 alone is the one way of XHTTP over UDP. */
export function transportL4(stream: Settings): L4 {
  const { network: type, security: kind } = viewStream(stream);
  if (type === 'kcp' || stream['network'] === 'hysteria') return 'udp';
  const alpn = kind === 'tls' ? objectOf(stream['tlsSettings'])['alpn'] : undefined;
  return type === 'xhttp' && Array.isArray(alpn) && alpn.length === 1 && alpn[0] === 'h3' ? 'udp' : 'tcp';
}

/** Returns the part for the core. The client's part stays here, so that a change of it interrupts nobody. */
export function coreStream(stream: Settings): JsonObject {
  const bare = (key: string) => {
    const { settings: _client, ...own } = objectOf(stream[key]);
    return { [key]: own };
  };
  return {
    network: tcp.name,
    ...stream,
    ...('tlsSettings' in stream && bare('tlsSettings')),
    ...('realitySettings' in stream && bare('realitySettings')),
  } as JsonObject;
}

/** What a client's side must know. */
export function streamEntry(stream: Settings): Pick<EntryTemplate, 'transport' | 'security'> {
  return {
    transport: transportOf(stream).entry(transportSettings(stream), stream),
    security: securityEntry(stream),
  };
}

function securityEntry(stream: Settings): EntryTemplate['security'] {
  const { security: kind } = viewStream(stream);
  if (kind === 'tls') return tlsEntry(objectOf(stream['tlsSettings']));
  return kind === 'reality' ? realityEntry(objectOf(stream['realitySettings'])) : { kind };
}

/** XTLS Vision takes the place of TLS's own records, so it wants TLS or REALITY right below it, or VLESS's own encryption above XHTTP. */
export function takesVision(stream: Settings, encrypted: boolean): boolean {
  const { network: type, security: kind } = viewStream(stream);
  return (type === 'tcp' && kind !== 'none') || (type === 'xhttp' && encrypted);
}
