// Hosts: 3x-ui has a row for each address and inbound, this panel a group with lists of both.
import type { HostEditsApi } from '../../hosts/contract.js';
import { type Context, leaveAll, NOT_MADE, take } from '../context.js';
import type { SourceRow } from '../source/known-tables.js';
import { fieldsOf, flagOf, jsonOf, textOf } from '../values.js';

const TABLE = 'hosts';
const MOST = 50_000;
const TAG = /^[A-Z0-9_:]{1,36}$/;
const MOST_TAGS = 10;
const FORMATS: Readonly<Record<string, string>> = { clash: 'alt' };

const textsOf = (value: unknown): string[] => {
  const list = jsonOf(value);
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === 'string') : [];
};
const portOf = (row: SourceRow): number => Number(row['port'] ?? 0);
/** An address with the port of its row, where that is not the one of the group. */
function addressOf(row: SourceRow, port: number): string[] {
  const address = textOf(row['address']).trim();
  if (address === '') return [];
  if (portOf(row) === port) return [address];
  return [
    address.includes(':') && !address.startsWith('[')
      ? `[${address}]:${portOf(row)}`
      : `${address}:${portOf(row)}`,
  ];
}

export async function importHosts(context: Context, hosts: HostEditsApi | undefined): Promise<void> {
  const { source, report } = context;
  if (!hosts) return leaveAll(context, TABLE, 'hosts');
  const groups = new Map<string, SourceRow[]>();
  let count = 0;
  for await (const row of source.rows(TABLE)) {
    const groupId = textOf(row['group_id']) || `imported${row['at']}`;
    if (++count > MOST) report.left(TABLE, `only the first ${MOST} are read`);
    else groups.set(groupId, [...(groups.get(groupId) ?? []), row]);
  }
  for (const [groupId, rows] of groups) await importGroup(context, hosts, groupId, rows);
}

async function importGroup(
  context: Context,
  hosts: HostEditsApi,
  groupId: string,
  all: readonly SourceRow[],
): Promise<void> {
  const { report, inboundIds, who, dryRun } = context;
  const name = textOf(all[0]?.['remark']);
  if (hosts.has(groupId)) return report.present(TABLE, all.length);
  const rows = all.filter((row) => inboundIds.has(Number(row['inbound_id'])));
  report.left(TABLE, 'its inbound is not here', name, all.length - rows.length);
  const [first] = rows;
  if (!first) return;
  const port = portOf(first);
  const tags = textsOf(first['tags']);
  const upper = tags.map((tag) => tag.toUpperCase());
  const kept = [...new Set(upper.filter((tag) => TAG.test(tag)))].slice(0, MOST_TAGS);
  const group = {
    ...fieldsOf(first, ['server_description', 'security', 'sni', 'host_header', 'path', 'fingerprint']),
    ...fieldsOf(first, ['verify_peer_cert_by_name', 'ech_config_list', 'cipher_suites', 'mux_params']),
    ...fieldsOf(first, ['sockopt_params', 'final_mask', 'vless_route', 'sort_order']),
    groupId,
    remark: name || 'host',
    port,
    isDisabled: flagOf(first['is_disabled']),
    isHidden: flagOf(first['is_hidden']),
    overrideSniFromAddress: flagOf(first['override_sni_from_address']),
    keepSniBlank: flagOf(first['keep_sni_blank']),
    allowInsecure: flagOf(first['allow_insecure']),
    shuffleHost: flagOf(first['shuffle_host']),
    altX25519: flagOf(first['mihomo_x25519']),
    altIpVersion: textOf(first['mihomo_ip_version']),
    alpn: textsOf(first['alpn']),
    pinnedPeerCertSha256: textsOf(first['pinned_peer_cert_sha256']),
    excludeFromSubTypes: textsOf(first['exclude_from_sub_types']).map((one) => FORMATS[one] ?? one),
    nodeGuids: textsOf(first['node_guids']),
    tags: kept,
    hosts: [...new Set(rows.flatMap((row) => addressOf(row, port)))],
    inboundIds: [...new Set(rows.map((row) => inboundIds.get(Number(row['inbound_id'])) ?? NOT_MADE))],
  };
  const isTaken = await take(context, { table: TABLE, name, rows: rows.length }, async () => {
    if (dryRun) hosts.check({ ...group, inboundIds: [1] });
    else await hosts.add(group, who);
  });
  if (!isTaken || tags.every((tag) => kept.includes(tag))) return;
  report.changed(
    TABLE,
    kept.length < new Set(upper).size
      ? `with tags of capital letters, at most ${MOST_TAGS} of them`
      : 'with tags in capital letters',
    name,
    rows.length,
  );
}
