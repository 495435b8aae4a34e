// A bot in the messenger of the Bot API: admins manage clients, clients see what they used.
import { afterKernelLead, contribute, definePlugin, job, maybe, singleton, tap } from '../../kernel/index.js';
import { WatchedStates } from '../alarms/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { Backups } from '../backup/contract.js';
import { afterClientSave, ClientEdits, Clients } from '../clients/contract.js';
import { beforeLeadEnds, Panels } from '../cluster/contract.js';
import { Devices } from '../devices/contract.js';
import { Engine } from '../engine/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { Channels } from '../notifications/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { Settings } from '../settings/contract.js';
import { Subscription } from '../subscription/contract.js';
import { Presence } from '../traffic/contract.js';
import { BotChannel } from './channel.js';
import { Dialogs } from './chat/dialogs.js';
import { Inbox } from './chat/inbox.js';
import { Screens } from './chat/screens.js';
import { Bot } from './life/bot.js';
import { UpdateLog } from './life/update-log.js';
import { Owners } from './owners.js';
import { Reporter } from './report/reporter.js';
import { botRoutes } from './routes.js';
import { botSettings } from './settings.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'msg-bot',
  version: '0.1.0',
  api: 1,
  about: 'A bot in a messenger: for admins, for clients, for notifications and reports.',
  uses: {
    outgoing: Outgoing,
    allSettings: Settings,
    clients: Clients,
    edits: ClientEdits,
    inbounds: Inbounds,
    engine: Engine,
    presence: maybe(Presence),
    subscription: maybe(Subscription),
    devices: maybe(Devices),
    backups: maybe(Backups),
    status: maybe(ServerStatus),
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
  },
  settings: botSettings,
  tables,
  migrations,
  services: {
    owners: singleton(Owners),
    dialogs: singleton(Dialogs),
    screens: singleton(Screens),
    inbox: singleton(Inbox),
    updates: singleton(UpdateLog),
    bot: singleton(Bot),
    channel: singleton(BotChannel),
    reporter: singleton(Reporter),
  },
  contributes: ({ bot, channel }) => [
    contribute(OutgoingHosts, bot.access),
    contribute(Channels, channel),
    contribute(WatchedStates, { name: 'msg-bot', problem: () => bot.problem }),
  ],
  taps: ({ bot, owners, settings }) => [
    settings.changed(() => bot.apply()),
    tap(afterKernelLead, () => bot.apply()),
    tap(beforeLeadEnds, () => bot.stop()),
    tap(afterClientSave, ({ changes }) => owners.follow(changes)),
  ],
  routes: botRoutes,
  jobs: ({ reporter, dialogs, inbox }) => [
    job('report', '1m', () => reporter.look()),
    job('tidy', '10m', async () => {
      inbox.tidy();
      await dialogs.prune();
    }),
  ],
  start: async ({ owners, bot }) => {
    await owners.start();
    bot.apply();
  },
  stop: ({ bot }) => bot.stop(),
});
