// `streamSettings.externalProxy`, the predecessor of hosts: further addresses of one inbound. Its entries are read as
// hosts while the inbound has none.
import { inspect, type Issue, sentenceOf } from '../../kernel/index.js';
import { addressOf } from './address.js';
import { type HostFields, hostRecord } from './fields.js';
import type { WayHost } from './way.js';

type Json = Readonly<Record<string, unknown>>;
/** Fields of a host, and what an entry calls them. */
const NAMES = {
  remark: 'remark',
  port: 'port',
  security: 'forceTls',
  sni: 'sni',
  fingerprint: 'fingerprint',
  alpn: 'alpn',
  pinnedPeerCertSha256: 'pinnedPeerCertSha256',
  verifyPeerCertByName: 'verifyPeerCertByName',
  echConfigList: 'echConfigList',
  vlessRoute: 'vlessRoute',
} as const satisfies Partial<Record<keyof HostFields, string>>;
const LISTS: readonly string[] = ['alpn', 'pinnedPeerCertSha256'];
const MOST = 500;
const MOST_ISSUES = 50;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface ExternalProxies {
  readonly hosts: readonly WayHost[];
  /** with paths in the inbound */
  readonly issues: readonly Issue[];
}

function readEntry(entry: unknown, path: string): { host: WayHost } | { issues: Issue[] } {
  if (!isObject(entry)) return { issues: [{ path, message: `${path}: it must be an object` }] };
  const issues: Issue[] = [];
  const refuse = (name: string, message: string): void =>
    void issues.push({ path: `${path}.${name}`, message: `${path}.${name}: ${message}` });
  const fields: Record<string, unknown> = {};
  for (const [field, name] of Object.entries(NAMES)) {
    const sent = entry[name];
    if (sent === undefined || sent === null || sent === '') continue;
    const value = LISTS.includes(field) && typeof sent === 'string' ? sent.split(',') : sent;
    const result = inspect(hostRecord.schemas[field as keyof typeof NAMES], value);
    if ('value' in result) fields[field] = result.value;
    else refuse(name, sentenceOf(result.issues));
  }
  const dest = entry['dest'] ?? '';
  const address = typeof dest === 'string' ? addressOf(dest.trim().replace(/^\[(.*)\]$/s, '$1')) : undefined;
  if (address === undefined) refuse('dest', 'it must be a host name or an IP address');
  if (issues.length > 0) return { issues };
  const complete = hostRecord.create(fields);
  return { host: { groupId: '', fields: complete, address: address ?? '', port: complete.port } };
}

export function externalProxies(streamSettings: Json): ExternalProxies {
  const path = 'streamSettings.externalProxy';
  const sent = streamSettings['externalProxy'] ?? [];
  if (!Array.isArray(sent) || sent.length > MOST)
    return {
      hosts: [],
      issues: [{ path, message: `${path}: it must be a list of at most ${MOST} entries` }],
    };
  const hosts: WayHost[] = [];
  const issues: Issue[] = [];
  for (const [i, entry] of sent.entries()) {
    // A reply names no more.
    if (issues.length > MOST_ISSUES) break;
    const result = readEntry(entry, `${path}.${i}`);
    if ('host' in result) hosts.push(result.host);
    else issues.push(...result.issues);
  }
  return { hosts, issues };
}
