import {
  bool,
  canonicalAddress,
  int,
  list,
  type LiveSettings,
  LongList,
  oneOf,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  word,
} from '../../kernel/index.js';
import type { BanStore } from './ban-store.js';
import type { Enforcer } from './enforcer.js';
import type { HandBans } from './hand-bans.js';
import type { SparedAddresses } from './spared.js';
import type { banGuardSettings } from './settings.js';

const address = () =>
  word()
    .max(64)
    .custom((value: string) => {
      if (canonicalAddress(value) === undefined) throw new Error('it is not an IP address');
      return value;
    })
    .example('198.51.100.7');
const scope = () => oneOf('proxy', 'panel');
const BanShape = shape({
  address: text().description('an IPv4 address, or the first of an IPv6 /64, which is banned as a whole'),
  scope: scope().description('proxy: all ports but those that stay open; panel: the ports of the panel'),
  reason: oneOf('limitIp', 'login', 'admin', 'driver'),
  clientId: int().min(0).description('0 without a client'),
  email: text().description('of the client; blank without one'),
  driver: text(),
  since: int().min(0).description('Unix ms'),
  until: int().min(0).description('Unix ms'),
});

interface Needs {
  readonly store: BanStore;
  readonly enforcer: Enforcer;
  readonly handBans: HandBans;
  readonly spared: SparedAddresses;
  readonly settings: LiveSettings<typeof banGuardSettings>;
}

export const routes = ({ store, enforcer, handBans, spared, settings }: Needs): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/server/banGuardStatus',
    name: 'banGuard.usable',
    doc: 'Whether addresses can be banned: a driver is chosen (enabled), its program is there (installed), and it works (usable).',
    reply: payload(shape({ enabled: bool(), installed: bool(), usable: bool(), windows: bool() })),
    handle: () => ({
      enabled: enforcer.driver !== '',
      installed: enforcer.standing.installed,
      usable: enforcer.isWorking,
      windows: process.platform === 'win32',
    }),
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/ban-guard/status',
    name: 'banGuard.status',
    doc: 'The ban driver, why it does not work, and which ports bans close.',
    reply: payload(
      shape({
        driver: text().description('blank: nothing is banned'),
        drivers: list(text()),
        problem: text().description('blank while bans are carried out'),
        bans: int().min(0),
        openPorts: list(int()).description('never closed by a ban of the scope proxy'),
        panelPorts: list(int()).description('closed by a ban of the scope panel'),
      }),
    ),
    handle: async () => {
      const { open, panel } = await enforcer.ports();
      return {
        driver: enforcer.driver,
        drivers: enforcer.drivers(),
        problem: enforcer.standing.problem,
        bans: store.list().length,
        openPorts: [...open],
        panelPorts: [...panel],
      };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/ban-guard/bans',
    name: 'banGuard.list',
    doc: 'Bans in force, those that end last first.',
    reply: payload(list(BanShape)),
    handle: () => LongList.of(store.list(), (ban) => ban),
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/ban-guard/spared',
    name: 'banGuard.spared',
    doc: 'Addresses over a limitIp that were not banned since the start of the panel, the latest first, at most 1,000.',
    reply: payload(
      list(
        shape({
          address: text(),
          clientId: int(),
          email: text(),
          reason: oneOf('private', 'listed', 'admin', 'shared', 'claimed').description(
            'shared: other clients were seen there; claimed: only a header names it; private, listed, admin: such addresses are never banned',
          ),
          sharedWith: list(text()).description('emails of other clients there, at most 20'),
          at: int().min(0).description('Unix ms of the last time'),
        }),
      ),
    ),
    handle: () => spared.list().map((one) => ({ ...one, sharedWith: [...one.sharedWith] })),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/ban-guard/ban',
    name: 'banGuard.ban',
    doc: 'Bans an address; of an IPv6 address its /64. One that is banned already gets the new time.',
    body: shape({
      address: address(),
      minutes: optional(int().min(1).max(525_600)).description('else banGuardMinutes'),
      scope: optional(scope()).description('else proxy'),
    }).example({ address: '198.51.100.7', minutes: 30 }),
    reply: payload(BanShape),
    handle: ({ body, who }) =>
      handBans.ban(
        {
          address: body.address,
          scope: body.scope ?? 'proxy',
          minutes: body.minutes ?? settings.read().banGuardMinutes,
        },
        who,
      ),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/ban-guard/unban',
    name: 'banGuard.unban',
    doc: 'Ends the bans of an address.',
    body: shape({ address: address(), scope: optional(scope()).description('else both') }).example({
      address: '198.51.100.7',
    }),
    reply: payload(list(BanShape)),
    handle: async ({ body, who }) => [...(await handBans.unban(body.address, body.scope, who))],
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/ban-guard/unbanAll',
    name: 'banGuard.unbanAll',
    doc: 'Ends all bans.',
    reply: payload(shape({ ended: int().min(0) })),
    handle: async ({ who }) => {
      const { length: ended } = await handBans.unbanAll(who);
      return { ended };
    },
  }),
];
