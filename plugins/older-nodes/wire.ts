// Inbounds and clients as panels of the older kind take them: inbounds as forms with JSON texts, clients under their older names.
import { createHash } from 'node:crypto';
import { TimeSlice } from '../../kernel/index.js';
import { accountOf, type Inbound, type InboundsApi } from '../inbounds/contract.js';
import type { ClientRow, ClientsApi, ProgramUsersApi } from '../clients/contract.js';
import type { Json, NodeCallOptions } from '../nodes/contract.js';

export type WireClient = { readonly [key: string]: Json | undefined };
/** Their clients know these; others have none there. */
const WITH_CLIENTS = new Set(['vless', 'vmess', 'trojan', 'shadowsocks', 'hysteria', 'wireguard', 'mtproto']);
/** What one call of such a panel takes. */
const MOST_BODY = 7 * 1024 * 1024;
/** of a text that is encoded in one go */
const PIECE = 16 * 1024;

/** A tag as the node has it: the prefix of this panel is taken off. */
export const wireTag = (tag: string, nodeId: number): string =>
  tag.startsWith(`n${nodeId}-`) ? tag.slice(`n${nodeId}-`.length) : tag;

/** Whether the inbound runs on the node. */
export const isOn = ({ id }: { readonly id: number }, inbound: Inbound | undefined): boolean =>
  inbound !== undefined && inbound.nodeId === id;

/** Body and headers of a call. The node refuses a body that was cut or changed on the way. */
export async function formCall(fields: Readonly<Record<string, string>>): Promise<NodeCallOptions> {
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  const add = (text: string): void => {
    const part = Buffer.from(text);
    hash.update(part);
    parts.push(part);
  };
  const slice = new TimeSlice();
  for (const [name, value] of Object.entries(fields)) {
    add(`${parts.length > 0 ? '&' : ''}${encoded(name)}=`);
    // A text of megabytes, encoded in one piece, holds the event loop for half a second.
    for (let from = 0; from < value.length; ) {
      if (slice.isOver) await slice.next();
      const to = from + PIECE - (isFirstHalf(value.charCodeAt(from + PIECE - 1)) ? 1 : 0);
      add(encoded(value.slice(from, to)));
      from = to;
    }
  }
  const form = Buffer.concat(parts);
  return { method: 'POST', form, headers: { 'x-config-sha256': hash.digest('hex') } };
}
/** As forms have it. */
const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
/** Of a character that is two units of a text. */
const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
export const jsonCall = (json: Json): NodeCallOptions => ({
  method: 'POST',
  json,
  headers: { 'x-config-sha256': sha256(JSON.stringify(json)) },
});
const sha256 = (body: string): string => createHash('sha256').update(body).digest('hex');

export class Wire {
  readonly #inbounds: InboundsApi;
  readonly #clients: ClientsApi;
  readonly #users: ProgramUsersApi;

  constructor({
    inbounds,
    clients,
    users,
  }: { inbounds: InboundsApi; clients: ClientsApi; users: ProgramUsersApi }) {
    this.#inbounds = inbounds;
    this.#clients = clients;
    this.#users = users;
  }

  /** Why such a panel cannot have clients of this inbound; undefined when it can. */
  clientless(inboundId: number): string | undefined {
    const { protocol = '' } = this.#inbounds.get(inboundId) ?? {};
    return WITH_CLIENTS.has(protocol)
      ? undefined
      : `panels of this kind have no clients of ${protocol} inbounds`;
  }

  /** The client as it is in this inbound. */
  client(row: Readonly<ClientRow>, inboundId: number): WireClient {
    const inbound = this.#inbounds.get(inboundId);
    return {
      id: row.uuid,
      security: row.security,
      password: row.password,
      flow: row.flow,
      auth: row.auth,
      email: row.email,
      limitIp: row.limitIp,
      totalGB: row.totalGB,
      expiryTime: row.expiryTime,
      enable: row.enable,
      tgId: row.tgId,
      subId: row.subId,
      group: row.group,
      comment: row.comment,
      ...(row.reverse && { reverse: row.reverse as unknown as Json }),
      ...(row.adTag !== '' && { adTag: row.adTag }),
      // Periods end at the central, for all machines at once.
      reset: 0,
      resetDay: 0,
      resetMax: 0,
      trafficReset: 'never',
      ...((row.credentials?.get(inboundId) as WireClient | undefined) ?? {}),
      ...(inbound && this.#accountOf(row, inbound)),
    };
  }

  /** What the core there must have, where it is not what the client has everywhere. */
  #accountOf(row: Readonly<ClientRow>, inbound: Inbound): WireClient {
    const protocol = this.#inbounds.protocol(inbound.protocol);
    const account = protocol && accountOf(protocol, row, inbound);
    if (!account) return {};
    const { protocol: kind, key, password, auth } = account as Readonly<Record<string, unknown>>;
    return {
      ...(kind === 'shadowsocks-2022' && typeof key === 'string' && { password: key }),
      ...(kind !== 'shadowsocks-2022' && typeof password === 'string' && { password }),
      ...(typeof auth === 'string' && { auth }),
    };
  }

  /** The whole inbound with all its clients. Throws a sentence when it is too large for one call. */
  async inbound({ id, nodeId, ...inbound }: Inbound): Promise<Record<string, string>> {
    const clients: WireClient[] = [];
    const slice = new TimeSlice();
    if (WITH_CLIENTS.has(inbound.protocol))
      for (const clientId of this.#users.attached(id)) {
        if (slice.isOver) await slice.next();
        const row = this.#clients.byId(clientId);
        if (row) clients.push(this.client(row, id));
      }
    const settings = JSON.stringify({ ...inbound.settings, ...(clients.length > 0 && { clients }) });
    if (settings.length > MOST_BODY)
      throw new Error(`${clients.length} clients are more than a panel of this kind takes in one call`);
    const of2 = ({ shareAddrStrategy: s }: typeof inbound) => (s === 'listen' || s === 'custom' ? s : 'node');
    return {
      total: String(inbound.total),
      remark: inbound.remark,
      subSortIndex: String(inbound.subSortIndex),
      enable: String(inbound.enable),
      expiryTime: String(inbound.expiryTime),
      listen: inbound.listen,
      port: String(inbound.port),
      protocol: inbound.protocol,
      settings,
      streamSettings: JSON.stringify(inbound.streamSettings),
      tag: wireTag(inbound.tag, nodeId ?? 0),
      sniffing: JSON.stringify(inbound.sniffing),
      shareAddrStrategy: of2(inbound),
      shareAddr: inbound.shareAddr,
      disableFlow: String(inbound.disableFlow),
      trafficReset: 'never',
      trafficResetDay: '1',
    };
  }
}
