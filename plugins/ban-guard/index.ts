import {
  afterKernelOpen,
  contribute,
  definePlugin,
  everywhere,
  job,
  kernelReady,
  Listeners,
  maybe,
  Sessions,
  singleton,
  tap,
  variable,
  withDefault,
  word,
} from '../../kernel/index.js';
import { loginAttempted } from '../access/contract.js';
import { addressLimitExceeded, ClientAddresses, cutAddresses } from '../addresses/contract.js';
import { AuditedHooks } from '../audit/contract.js';
import { Clients } from '../clients/contract.js';
import { othersWrote, Panels } from '../cluster/contract.js';
import { OpenConnections } from '../connection-cut/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { beforeSettingsSave, duringSettingsSave } from '../settings/contract.js';
import { BanStore } from './ban-store.js';
import { commands } from './commands.js';
import {
  addressesBanned,
  addressesUnbanned,
  BanDrivers,
  banSettingsChanged,
  duringBanSave,
} from './contract.js';
import { DriverMarks } from './driver-marks.js';
import { Enforcer } from './enforcer.js';
import { errors } from './errors.js';
import { Fail2banDriver } from './fail2ban/driver.js';
import { HandBans } from './hand-bans.js';
import { LimitBans } from './limit-bans.js';
import { LoginBans } from './login-bans.js';
import { NftablesDriver } from './nftables/driver.js';
import { bannedAddresses } from './notified.js';
import { Protection } from './protection.js';
import { bans } from './recorded.js';
import { routes } from './routes.js';
import { banGuardSettings } from './settings.js';
import { SparedAddresses } from './spared.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'ban-guard',
  version: '0.1.0',
  api: 1,
  about: 'Bans addresses over a limitIp, and those that guess passwords, by nftables or fail2ban.',
  uses: {
    clients: Clients,
    inbounds: Inbounds,
    listeners: Listeners,
    sessions: Sessions,
    clientAddresses: maybe(ClientAddresses),
    connections: maybe(OpenConnections),
    panels: maybe(Panels),
  },
  hooks: [addressesBanned, addressesUnbanned, banSettingsChanged, duringBanSave],
  config: {
    fail2ban: variable(
      'WEIR_FAIL2BAN',
      withDefault(word().pattern(/^\//, 'an absolute path'), '/etc/fail2ban'),
      'folder of the configuration of fail2ban',
    ),
  },
  settings: banGuardSettings,
  tables,
  migrations,
  services: {
    store: singleton(BanStore),
    marks: singleton(DriverMarks),
    enforcer: singleton(Enforcer),
    protection: singleton(Protection),
    spared: singleton(SparedAddresses),
    limitBans: singleton(LimitBans),
    loginBans: singleton(LoginBans),
    handBans: singleton(HandBans),
    nftables: singleton(NftablesDriver),
    fail2ban: singleton(Fail2banDriver),
  },
  contributes: ({ nftables, fail2ban }) => [
    contribute(BanDrivers, nftables),
    contribute(BanDrivers, fail2ban),
    contribute(AuditedHooks, bans),
    contribute(NotifiedEvents, bannedAddresses),
  ],
  taps: ({ store, enforcer, limitBans, loginBans, panels }) => [
    // A panel that does not lead is never `kernelReady`. Not awaited: a driver may be slow.
    tap(afterKernelOpen, () => {
      if (panels?.leads !== false) return;
      enforcer.noteEnds(store.list());
      void enforcer.reconcile();
    }),
    tap(kernelReady, () => {
      enforcer.noteEnds(store.list());
      return enforcer.reconcile();
    }),
    tap(addressLimitExceeded, ({ clients }) => limitBans.exceeded(clients)),
    // Of a client that moves, the address that it has left is the one to close.
    tap(cutAddresses, () => (limitBans.isOn ? 'oldest' : undefined)),
    tap(loginAttempted, ({ attempts }) => loginBans.attempted(attempts)),
    tap(beforeSettingsSave, ({ changes: { banGuardDriver } }) => {
      if (
        typeof banGuardDriver === 'string' &&
        banGuardDriver !== '' &&
        !enforcer.drivers().includes(banGuardDriver)
      )
        throw errors.UNKNOWN_DRIVER(
          `there is no ban driver ${banGuardDriver}; there are ${enforcer.drivers().join(', ')}`,
          { path: 'banGuardDriver' },
        );
    }),
    // By an event, because it writes: a caller does not wait for the driver.
    tap(duringSettingsSave, ({ changes }, tx) => {
      if (changes.some(({ name }) => name in banGuardSettings)) tx.emit(banSettingsChanged, {});
    }),
    tap(banSettingsChanged, () => enforcer.reconcile()),
    tap(othersWrote, () => enforcer.followOthers()),
  ],
  routes,
  commands,
  jobs: ({ enforcer, store }) => [
    // Each panel has the bans on its own machine.
    everywhere(job('reconcile', '30s', () => enforcer.reconcile())),
    job('prune', '1h', () => store.prune()),
  ],
  start: ({ marks }) => marks.load(),
  stop: ({ enforcer }) => enforcer.settled(),
});
