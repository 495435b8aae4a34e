// A client of 3x-ui in the words of this panel.
import type { InboundsApi } from '../../inbounds/contract.js';
import type { Context } from '../context.js';
import type { Entry, SourceClient } from '../source/known-tables.js';
import { countOf, fieldsOf, flagOf, isObject, jsonOf, numberIn, textOf } from '../values.js';

const WIREGUARD = ['privateKey', 'publicKey', 'allowedIPs', 'preSharedKey', 'keepAlive', 'forwardedPorts'];
const OWN_PASSWORD = ['trojan', 'shadowsocks', 'tuic'];

export interface Body {
  readonly client: Readonly<Record<string, unknown>> & { readonly email: string };
  /** inbounds that are here */
  readonly inboundIds: readonly number[];
  /** what it has in one of them only, by inboundId */
  readonly credentials: readonly (Readonly<Record<string, unknown>> & { readonly inboundId: number })[];
  readonly used: {
    readonly up: number;
    readonly down: number;
    readonly lastOnline: number;
    readonly lastSubFetch: number;
    readonly resetCount: number;
  };
  /** how it differs from what it was, for the report */
  readonly changes: readonly string[];
  /** why it is not attached where it was, for the report */
  readonly detached: readonly string[];
}

/** The first that is not blank. */
const firstText = (...values: readonly unknown[]): string =>
  values.map(textOf).find((text) => text !== '') ?? '';

/** What an entry of an inbound says of the client there, and of no other inbound. */
function credentialOf(
  protocol: string,
  entry: Entry,
  { row }: SourceClient,
  common: { readonly password: string; readonly auth: string },
): Record<string, unknown> {
  if (OWN_PASSWORD.includes(protocol)) {
    const password = textOf(entry['password']);
    return password === '' || password === common.password ? {} : { password };
  }
  if (protocol === 'hysteria') {
    const auth = textOf(entry['auth']);
    return auth === '' || auth === common.auth ? {} : { auth };
  }
  if (protocol === 'mtproto') {
    const secret = firstText(entry['secret'], row['secret']);
    return secret === '' ? {} : { secret };
  }
  if (protocol !== 'wireguard' && protocol !== 'amneziawg') return {};
  const ofRow: Entry = {
    privateKey: row['wg_private_key'],
    publicKey: row['wg_public_key'],
    allowedIPs: row['wg_allowed_ips'],
    preSharedKey: row['wg_pre_shared_key'],
    keepAlive: row['wg_keep_alive'],
  };
  // Keys of one inbound are not those of another.
  const from = firstText(entry['privateKey'], entry['publicKey']) === '' ? ofRow : entry;
  return Object.fromEntries(
    WIREGUARD.flatMap((name) => {
      const value = from[name];
      return value === undefined || value === null || value === '' ? [] : [[name, value]];
    }),
  );
}

export function bodyOf(source: SourceClient, { inboundIds: known }: Context, inbounds: InboundsApi): Body {
  const { row, traffic, attachments } = source;
  const changes: string[] = [];
  const detached: string[] = [];
  const entries = attachments.map(({ entry }) => entry);
  const email = textOf(row['email']).trim() || source.email;
  const uuids = new Set(entries.map(({ id }) => textOf(id).trim().toLowerCase()).filter((id) => id !== ''));
  const [uuid = ''] =
    uuids.size === 1
      ? uuids
      : [
          firstText(row['uuid'], ...uuids)
            .trim()
            .toLowerCase(),
        ];
  if (uuids.size > 1) changes.push('with one UUID for all its inbounds');
  const password = firstText(row['password'], ...entries.map((entry) => entry['password']));
  const auth = firstText(row['auth'], ...entries.map((entry) => entry['auth']));
  const flows = entries.flatMap((entry) => entry['flow'] ?? []);
  // The flow of the client itself reaches no core.
  const flow = firstText(...(flows.length > 0 ? flows : [row['flow']]));
  const attached: number[] = [];
  const credentials: (Record<string, unknown> & { inboundId: number })[] = [];
  let isWithoutFlow = false;
  for (const { inboundId: theirs, entry } of attachments) {
    const inboundId = known.get(theirs);
    if (inboundId === undefined) {
      detached.push('its inbound is not here');
      continue;
    }
    // 0: a dry run.
    const clientless = inboundId === 0 ? undefined : inbounds.clientless(inboundId);
    if (clientless !== undefined) {
      detached.push(`its inbound takes no clients: ${clientless}`);
      continue;
    }
    attached.push(inboundId);
    const protocol = inbounds.get(inboundId)?.protocol ?? '';
    const own = credentialOf(protocol, entry, source, { password, auth });
    if (Object.keys(own).length > 0) credentials.push({ ...own, inboundId });
    isWithoutFlow ||= flow !== '' && textOf(entry['flow']) === '' && inbounds.takesFlow(inboundId);
  }
  if (isWithoutFlow) changes.push('with its flow also on an inbound where it had none');
  const subId = textOf(row['sub_id']).trim();
  if (subId === '') changes.push('it had no subId, and has a new one');
  const expiryTime = numberIn(traffic, 'expiry_time') ?? row['expiry_time'] ?? 0;
  const totalGB = numberIn(traffic, 'total') ?? row['total_gb'] ?? 0;
  // 3x-ui shows and enforces the row of the counters; a renewal leaves the other one behind.
  if (expiryTime !== (row['expiry_time'] ?? 0))
    changes.push('with the expiry that is in force: that of client_traffics');
  if (totalGB !== (row['total_gb'] ?? 0))
    changes.push('with the quota that is in force: that of client_traffics');
  const up = countOf(traffic?.['up']);
  const down = countOf(traffic?.['down']);
  if ((numberIn(traffic, 'up') ?? 0) !== up || (numberIn(traffic, 'down') ?? 0) !== down)
    changes.push('with counters from 0 to 2^50');
  const reverse = isObject(jsonOf(row['reverse']))
    ? jsonOf(row['reverse'])
    : entries.find(({ reverse }) => isObject(reverse))?.['reverse'];
  return {
    client: {
      ...fieldsOf(row, ['limit_ip', 'limit_hwid', 'tg_id', 'comment', 'reset', 'reset_day', 'reset_max']),
      ...fieldsOf(row, ['traffic_reset', 'traffic_reset_day', 'ad_tag']),
      ...(row['created_at'] ? { created_at: row['created_at'] } : {}),
      ...(row['updated_at'] ? { updated_at: row['updated_at'] } : {}),
      email,
      ...(subId !== '' && { subId }),
      ...(uuid !== '' && { uuid }),
      ...(password !== '' && { password }),
      ...(auth !== '' && { auth }),
      flow,
      security: firstText(row['security'], ...entries.map(({ security }) => security)),
      group: textOf(row['group_name']).trim(),
      enable: flagOf(row['enable'], true) && flagOf(traffic?.['enable'], true),
      expiryTime,
      totalGB,
      ...(isObject(reverse) && Object.keys(reverse).length > 0 && { reverse }),
      ...(credentials.length > 0 && { credentials: credentials.filter(({ inboundId }) => inboundId > 0) }),
    },
    inboundIds: [...new Set(attached)].filter((id) => id > 0),
    credentials,
    used: {
      up,
      down,
      lastOnline: countOf(traffic?.['last_online']),
      lastSubFetch: countOf(traffic?.['last_sub_fetch']),
      resetCount: countOf(traffic?.['reset_count']),
    },
    changes,
    detached,
  };
}

export const linksOf = ({ links }: SourceClient) =>
  [...links]
    .sort((a, b) => Number(a['sort_index'] ?? 0) - Number(b['sort_index'] ?? 0))
    .map((link) => ({
      ...fieldsOf(link, ['kind', 'value', 'remark', 'name_prefix']),
      enable: flagOf(link['enable'], true),
      expiryTime: countOf(link['expiry_time']),
    }));
export const devicesOf = ({ devices }: SourceClient) =>
  devices.map((device) => ({
    ...fieldsOf(device, ['user_agent', 'device_os', 'os_version', 'device_model']),
    hash: device['hwid_hash'],
    firstSeen: countOf(device['first_seen']),
    lastSeen: countOf(device['last_seen']),
  }));
