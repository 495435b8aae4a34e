import { definePlugin, extend, provide, singleton, tap, validate } from '../../kernel/index.js';
import { CoreGuard } from '../core-guard/contract.js';
import { composeCoreConfig, Engine } from '../engine/contract.js';
import { accountsOf } from './accounts.js';
import { afterInboundSave, InboundEdits, InboundLimits, Inbounds, Protocols } from './contract.js';
import { InboundCheck } from './check.js';
import { InboundLimits as Limits } from './limits.js';
import { shadowsocks } from './protocols/shadowsocks.js';
import { trojan } from './protocols/trojan.js';
import { vless } from './protocols/vless.js';
import { vmess } from './protocols/vmess.js';
import { routes } from './routes.js';
import { AddInbound } from './schema.js';
import { coreInbound } from './core-inbound.js';
import { InboundService } from './service.js';
import { afterInboundReset, afterInboundUsage, InboundStore } from './store.js';
import { migrations, tables } from './tables.js';
import { Turns } from './turns.js';

export default definePlugin({
  name: 'inbounds',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'The listening endpoints of the core and the protocols they speak.',
  uses: { engine: Engine, guard: CoreGuard },
  tables,
  migrations,
  services: {
    turns: singleton(Turns),
    store: singleton(InboundStore),
    limits: singleton(Limits),
    check: singleton(InboundCheck),
    service: singleton(InboundService),
  },
  provides: ({ store, service, limits }) => [
    provide(Inbounds, store),
    provide(InboundLimits, limits),
    provide(InboundEdits, {
      add: async (inbound, options) => service.add(validate(AddInbound, inbound), options),
      delete: (id) => service.delete(id),
    }),
  ],
  extends: () => [vless, vmess, trojan, shadowsocks].map((protocol) => extend(Protocols, protocol)),
  hooks: ({ store }) => [
    tap(afterInboundSave, ({ changes }) => store.apply(changes)),
    tap(afterInboundReset, ({ ids }) => store.forget(ids)),
    tap(afterInboundUsage, (usage) => store.count(usage)),
    tap(
      composeCoreConfig,
      (add) => {
        for (const inbound of store.list()) {
          const protocol = store.protocol(inbound.protocol);
          if (inbound.enable && protocol)
            add({
              inbound: {
                ...coreInbound(inbound, protocol),
                id: inbound.id,
                accounts: accountsOf(inbound, protocol),
              },
            });
        }
      },
      // Left out, its inbounds would be taken from the core; the core shall go on as it is instead.
      { strict: true },
    ),
  ],
  routes,
  start: ({ store }) => store.load(),
});
