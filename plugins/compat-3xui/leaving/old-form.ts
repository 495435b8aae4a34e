// Inbounds and clients as 3x-ui exports them, and takes them: the list of inbounds/list, and the list of clients/export.
import type { ClientRow } from '../../clients/contract.js';
import { userName } from '../../engine/contract.js';
import { accountOf, type Inbound, type InboundsApi } from '../../inbounds/contract.js';

type Values = Readonly<Record<string, unknown>>;

/** Where 3x-ui keeps logins of the inbound's own in place of clients. */
const WITH_LOGINS = ['http', 'mixed'];
/** Credentials of the whole client that inbounds of a protocol use. */
const USED: Readonly<Record<string, readonly ('password' | 'auth')[]>> = {
  trojan: ['password'],
  shadowsocks: ['password'],
  tuic: ['password'],
  hysteria: ['auth'],
};

export const hasClients = ({ protocol }: Inbound): boolean => !WITH_LOGINS.includes(protocol);
export const hasLogins = ({ protocol }: Inbound): boolean => WITH_LOGINS.includes(protocol);

/** What a client has everywhere. Keys that 3x-ui leaves out when they say nothing are left out. */
const common = (row: Readonly<ClientRow>): Values => ({
  id: row.uuid,
  security: row.security,
  email: row.email,
  limitIp: row.limitIp,
  totalGB: row.totalGB,
  expiryTime: row.expiryTime,
  enable: row.enable,
  tgId: row.tgId,
  subId: row.subId,
  ...(row.group !== '' && { group: row.group }),
  comment: row.comment,
  reset: row.reset,
  resetDay: row.resetDay,
  resetMax: row.resetMax,
  trafficReset: row.trafficReset,
  trafficResetDay: row.trafficResetDay,
  ...(row.reverse && { reverse: row.reverse }),
  ...(row.adTag !== '' && { adTag: row.adTag }),
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

export class OldForm {
  readonly #inbounds: InboundsApi;

  constructor({ inbounds }: { inbounds: InboundsApi }) {
    this.#inbounds = inbounds;
  }

  /** An entry of `settings.clients`. */
  client(row: Readonly<ClientRow>, inbound: Inbound): Values {
    const { method } = inbound.settings;
    const isShadowsocks = inbound.protocol === 'shadowsocks';
    return {
      ...common(row),
      ...(row.flow !== '' && this.#inbounds.takesFlow(inbound.id) && { flow: row.flow }),
      ...(isShadowsocks && !String(method).startsWith('2022-') && { method }),
      ...this.#credentials(row, inbound),
      ...(row.credentials?.get(inbound.id) as Values | undefined),
    };
  }

  /** What the core accepts of the client in this inbound. */
  #credentials(row: Readonly<ClientRow>, inbound: Inbound): Values {
    const protocol = this.#inbounds.protocol(inbound.protocol);
    const account: Values = (protocol && accountOf(protocol, row, inbound)) ?? {};
    const { key, password, auth } = account;
    return Object.fromEntries(
      (USED[inbound.protocol] ?? []).map((name) => [
        name,
        name === 'auth' ? (auth ?? row.auth) : (key ?? password ?? row.password),
      ]),
    );
  }

  /** A login of an http or mixed inbound, which has no clients there; undefined where the client has none. */
  login(row: Readonly<ClientRow>, inbound: Inbound): Values | undefined {
    const protocol = this.#inbounds.protocol(inbound.protocol);
    const account = protocol && accountOf(protocol, row, inbound);
    return (
      account && {
        user: userName({ inboundId: inbound.id, clientId: row.id }),
        pass: String(account['password'] ?? ''),
      }
    );
  }

  /** An entry of `clientStats`. */
  stat(row: Readonly<ClientRow>, position: number): Values {
    const { id, enable, email, uuid, subId, up, down, expiryTime, totalGB } = row;
    const { reset, resetDay, resetMax, resetCount, lastOnline, lastSubFetch } = row;
    return {
      id,
      inboundId: position,
      enable,
      email,
      uuid,
      subId,
      up,
      down,
      expiryTime,
      total: totalGB,
      reset,
      resetDay,
      resetMax,
      resetCount,
      lastOnline,
      lastSubFetch,
    };
  }

  /** An inbound without its clients. */
  inbound(inbound: Inbound, position: number, tag: string): Values {
    const { up, down } = this.#inbounds.usage(inbound.id);
    return {
      id: position,
      up,
      down,
      total: inbound.total,
      remark: inbound.remark,
      subSortIndex: inbound.subSortIndex,
      enable: inbound.enable,
      expiryTime: inbound.expiryTime,
      trafficReset: inbound.trafficReset,
      trafficResetDay: inbound.trafficResetDay,
      lastTrafficResetTime: inbound.lastTrafficResetTime,
      listen: inbound.listen,
      port: inbound.port,
      protocol: inbound.protocol,
      settings: inbound.settings,
      streamSettings: inbound.streamSettings,
      tag,
      sniffing: inbound.sniffing,
      shareAddrStrategy: inbound.shareAddrStrategy,
      shareAddr: inbound.shareAddr,
      disableFlow: inbound.disableFlow,
    };
  }

  /** An item of clients/export. `positions` are those of the inbounds in the folder. */
  item(row: Readonly<ClientRow>, positions: ReadonlyMap<number, number>): Values {
    const own = row.inboundIds.flatMap((id) => this.#inbounds.get(id) ?? []).filter(hasClients);
    const uses = (name: 'password' | 'auth'): boolean =>
      own.some(({ protocol }) => USED[protocol]?.includes(name));
    const [credential] = own.flatMap(({ id }) => (row.credentials?.get(id) as Values | undefined) ?? []);
    const { password: _, auth: _auth, ...ofInbound } = (credential ?? {}) as Record<string, unknown>;
    return {
      client: {
        ...common(row),
        password: row.password,
        ...(uses('auth') && { auth: row.auth }),
        ...(row.flow !== '' && { flow: row.flow }),
        ...ofInbound,
        limitHwid: row.limitHwid,
      },
      inboundIds: own.flatMap(({ id }) => positions.get(id) ?? []),
    };
  }
}
