import {
  definePlugin,
  contribute,
  findUnknownKeys,
  type Hooks,
  maybe,
  PanelError,
  provide,
  SerialQueue,
  singleton,
  tap,
  validate,
} from '../../kernel/index.js';
import { CallerRights } from '../access/contract.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, AuditTrail, recordUndoer, Undoers } from '../audit/contract.js';
import { CoreGuard } from '../core-guard/contract.js';
import {
  AccountTypes,
  composeCoreConfig,
  type CorePart,
  Engine,
  PartChecks,
  UserServers,
} from '../engine/contract.js';
import { ListenerPlaces, PanelIdentity } from '../settings/contract.js';
import { inboundsPart } from './archive-part.js';
import { accountsOf } from './accounts.js';
import {
  afterInboundSave,
  beforeInboundSave,
  coreSettings,
  describeInbounds,
  duringInboundSave,
  type Inbound,
  InboundEdits,
  InboundLimits,
  Inbounds,
  prepareInboundSave,
  type Protocol,
  Protocols,
} from './contract.js';
import { InboundCheck } from './check.js';
import { KnownProtocols } from './contributed/known-protocols.js';
import { InboundLimits as Limits } from './limits.js';
import { amneziawg } from './protocols/wireguard/amneziawg.js';
import { hysteria, hysteriaAccounts } from './protocols/hysteria.js';
import { http, httpAccounts } from './protocols/http.js';
import { mixed, mixedAccounts } from './protocols/mixed.js';
import { mtproto } from './protocols/mtproto.js';
import { shadowsocks } from './protocols/shadowsocks.js';
import { shadowsocks2022Accounts, shadowsocksAccounts } from './protocols/shadowsocks-accounts.js';
import { trojan, trojanAccounts } from './protocols/trojan.js';
import { tuic } from './protocols/tuic.js';
import { tun } from './protocols/tun.js';
import { tunnel } from './protocols/tunnel.js';
import { vless, vlessAccounts } from './protocols/vless.js';
import { vmess, vmessAccounts } from './protocols/vmess.js';
import { wireguard, wireguardAccounts } from './protocols/wireguard/wireguard.js';
import { Programs } from './contributed/programs.js';
import { inbounds } from './recorded.js';
import { routes } from './routes.js';
import { AddInbound, UpdateInbound } from './schema.js';
import { CoreEdits } from './core-edits.js';
import { coreInbound } from './core-inbound.js';
import { SentClientsPlans } from './sent-clients.js';
import { InboundService } from './service.js';
import { InboundStore } from './store.js';
import { migrations, tables } from './tables.js';
import { localOf, LocalInbounds } from './places/local-inbounds.js';
import { Places, runsHere } from './places/places.js';
import { RemoteServers } from './places/remote-servers.js';
import { editedOf } from './version.js';
import { InboundViews } from './views.js';

/** Returns an empty list where the protocol's plugin fails, which is logged: the other inbounds keep running. */
function corePart(inbound: Inbound, protocol: Protocol, hooks: Hooks): CorePart[] {
  try {
    const accounts = accountsOf(inbound, protocol);
    const part = coreInbound(inbound, protocol, (settings) =>
      hooks.refine(coreSettings, settings, { inbound }),
    );
    return [{ inbound: { ...part, id: inbound.id, accounts } }];
  } catch (error) {
    if (error instanceof PanelError) return [];
    throw error;
  }
}

export default definePlugin({
  name: 'inbounds',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'The listening endpoints of the core and the protocols they speak.',
  uses: {
    engine: Engine,
    guard: CoreGuard,
    identity: PanelIdentity,
    listeners: ListenerPlaces,
    audit: maybe(AuditTrail),
    rights: maybe(CallerRights),
  },
  hooks: [
    prepareInboundSave,
    beforeInboundSave,
    duringInboundSave,
    afterInboundSave,
    coreSettings,
    describeInbounds,
  ],
  tables,
  migrations,
  services: {
    // Edits run one after another: each is checked against the result of the previous one.
    queue: singleton(SerialQueue),
    protocols: singleton(KnownProtocols),
    programs: singleton(Programs),
    places: singleton(Places),
    store: singleton(InboundStore),
    remote: singleton(RemoteServers),
    coreEdits: singleton(CoreEdits),
    limits: singleton(Limits),
    check: singleton(InboundCheck),
    sentClients: singleton(SentClientsPlans),
    service: singleton(InboundService),
    views: singleton(InboundViews),
  },
  provides: ({ store, service, limits, check, views }) => [
    provide(Inbounds, store),
    provide(LocalInbounds, localOf(store)),
    provide(InboundLimits, limits),
    provide(InboundEdits, {
      add: async (inbound, who, options = {}) => {
        const added = await service.add(validate(AddInbound, inbound), who, options);
        const unknown = new Set<string>();
        await findUnknownKeys(UpdateInbound, inbound, unknown);
        for (const key of views.withoutShown(unknown, added.id)) options.ignored?.add(key);
        return added;
      },
      check: async (inbound, who, options = {}) => service.check(validate(AddInbound, inbound), who, options),
      update: async (id, fields, who) =>
        (await service.update(id, validate(UpdateInbound, fields), who)).applied,
      delete: (id, who) => service.delete(id, who),
      test: (inbound, change) => check.test(inbound, change),
    }),
  ],
  contributes: ({ store, remote, service }) => [
    contribute(ArchiveParts, inboundsPart({ store, service })),
    contribute(AuditedHooks, inbounds),
    contribute(
      Undoers,
      recordUndoer<Inbound>(inbounds, {
        facts: editedOf,
        find: (id) => store.get(Number(id)),
        set: (id, fields, who) => service.update(Number(id), validate(UpdateInbound, fields), who),
      }),
    ),
    contribute(UserServers, remote),
    // A plugin that forgets where an inbound runs cannot bring it to the core.
    contribute(PartChecks, {
      problem: (part) => {
        const inbound = 'inbound' in part ? store.get(part.inbound.id) : undefined;
        return inbound && !runsHere(inbound) ? 'another machine runs this inbound' : undefined;
      },
    }),
    ...[
      vless,
      vmess,
      trojan,
      shadowsocks,
      http,
      mixed,
      hysteria,
      tunnel,
      tun,
      tuic,
      mtproto,
      wireguard,
      amneziawg,
    ].map((protocol) => contribute(Protocols, protocol)),
    ...[
      vlessAccounts,
      vmessAccounts,
      trojanAccounts,
      shadowsocksAccounts,
      shadowsocks2022Accounts,
      hysteriaAccounts,
      httpAccounts,
      mixedAccounts,
      wireguardAccounts,
    ].map((type) => contribute(AccountTypes, type)),
  ],
  taps: ({ store, remote, hooks }) => [
    tap(afterInboundSave, ({ changes }) => remote.saved(changes)),
    tap(
      composeCoreConfig,
      (add) => {
        for (const inbound of localOf(store).list()) {
          const protocol = store.protocol(inbound.protocol);
          if (inbound.enable && protocol && protocol.runBy !== 'program')
            add(...corePart(inbound, protocol, hooks));
        }
      },
      // Without `strict` a failure would remove all inbounds from the core; with it, the core keeps its config.
      { strict: true },
    ),
  ],
  routes,
});
