// What forms must know of a field, beside its JSON Schema: a title, and `x-weir`.
import type { Annotation } from '../../kernel/index.js';
import type { Draft } from './allowed-values.js';

/** Words of names that are written in another way. */
const WRITTEN: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...[
      'ACME',
      'ALPN',
      'CIDR',
      'CPU',
      'DNS',
      'ECH',
      'HTTP',
      'HTTPS',
      'HWID',
      'ID',
      'IP',
      'JSON',
      'MTU',
      'OCSP',
    ],
    ...[
      'PEM',
      'S3',
      'SNI',
      'SOCKS',
      'SSE',
      'TCP',
      'TLS',
      'TTI',
      'TUN',
      'RTT',
      'UDP',
      'URI',
      'URL',
      'URLs',
      'UUID',
    ],
    ...['gRPC', 'IPv4', 'IPv6', 'IPs', 'IDs', 'SMTP', 'MPTCP'],
  ].map((word) => [word.toLowerCase(), word]),
);

/** `serverName` and `server_name` as `Server name`. The prefix that a third-party plugin has before its settings is left out. */
export function titleOf(name: string): string {
  const words = (name.split('.').at(-1) ?? name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    // `TCPSeg`, but not `IPs`.
    .replaceAll(/([A-Z])([A-Z](?:[a-rt-z]|s[a-z]))/g, '$1 $2')
    .split(/[\s_-]+/)
    .map((word) => WRITTEN[word.toLowerCase()] ?? (/^[A-Z]+$/.test(word) ? word : word.toLowerCase()));
  const title = words.join(' ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

export const annotationIn = (metas: readonly Readonly<Record<string, unknown>>[] = []): Annotation =>
  Object.assign({}, ...metas.map(({ form }) => form));

/** Blank stands for a value that the panel makes; an object is left out instead. */
const orBlank = (field: Draft): Draft => {
  if (field['type'] === 'object') return field;
  const { title, description, default: preset, ...alone } = field;
  return {
    anyOf: [alone, { enum: ['', null] }],
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(preset !== undefined && { default: preset }),
  };
};

/** A field with its title and annotations. `order` is its place among the fields of its object. */
export function asField(field: Draft, annotation: Annotation, name: string, order: number): Draft {
  const { title = titleOf(name), readOnly = false, ...words } = annotation;
  return {
    title,
    ...(annotation.generated ? orBlank(field) : field),
    ...(readOnly && { readOnly }),
    'x-weir': { order, ...words },
  };
}
