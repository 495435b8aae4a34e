// A chat bot with a token and a channel: notifications, a report on schedule, and backups.
import {
  bare,
  bool,
  contribute,
  definePlugin,
  job,
  maybe,
  messageOf,
  optional,
  route,
  shape,
  singleton,
  text,
  word,
} from '../../kernel/index.js';
import { PanelDatabase } from '../backup/contract.js';
import { Clients } from '../clients/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { Channels } from '../notifications/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { Settings } from '../settings/contract.js';
import { Presence } from '../traffic/contract.js';
import { BackupFile } from './backup-file.js';
import { ChatChannel } from './channel.js';
import { ChatCall } from './chat-call.js';
import { Report } from './report.js';
import { ReportSchedule } from './report-schedule.js';
import { CHANNEL, TOKEN, webhookSettings } from './settings.js';

const SentTest = shape({
  webhookToken: optional(
    word()
      .max(256)
      .pattern(TOKEN, 'the token of a bot')
      .description('the saved one by default')
      .example(`MTA${'x'.repeat(60)}`),
  ),
  webhookChannelId: optional(
    word()
      .max(25)
      .pattern(CHANNEL, 'the id of a channel')
      .description('the saved one by default')
      .example('123456789012345678'),
  ),
}).example({});

export default definePlugin({
  name: 'webhook',
  version: '0.1.0',
  api: 1,
  about: 'A chat bot that sends notifications, reports and backups to a channel.',
  uses: {
    outgoing: Outgoing,
    clients: Clients,
    inbounds: Inbounds,
    allSettings: Settings,
    presence: maybe(Presence),
    status: maybe(ServerStatus),
    database: maybe(PanelDatabase),
  },
  settings: webhookSettings,
  services: {
    chat: singleton(ChatCall),
    channel: singleton(ChatChannel),
    report: singleton(Report),
    backupFile: singleton(BackupFile),
    schedule: singleton(ReportSchedule),
  },
  contributes: ({ chat, channel }) => [contribute(OutgoingHosts, chat.access), contribute(Channels, channel)],
  routes: ({ chat, report }) => [
    route({
      method: 'POST',
      path: '/panel/api/setting/testWebhook',
      name: 'setting.testWebhook',
      doc: 'Sends a test message to the channel, also while the bot is disabled.',
      body: SentTest,
      reply: bare(shape({ success: bool(), msg: text() })),
      handle: async ({ body, signal }) => {
        const { webhookToken: token = '', webhookChannelId: channelId = '' } = body;
        try {
          await chat.post(report.test(), { signal, target: { token, channelId } });
          return { success: true, msg: 'the test message was sent' };
        } catch (error) {
          return { success: false, msg: messageOf(error) };
        }
      },
    }),
  ],
  jobs: ({ schedule }) => [job('report', '10s', (signal) => schedule.look(signal))],
});
