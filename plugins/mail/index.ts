import {
  bare,
  bool,
  contribute,
  definePlugin,
  oneOf,
  route,
  shape,
  singleton,
  text,
} from '../../kernel/index.js';
import { Channels } from '../notifications/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import { MailChannel } from './mail-channel.js';
import { mailSettings } from './settings.js';

export default definePlugin({
  name: 'mail',
  version: '0.1.0',
  api: 1,
  about: 'Sends notifications by mail.',
  settings: mailSettings,
  services: { channel: singleton(MailChannel) },
  contributes: ({ channel }) => [contribute(Channels, channel)],
  routes: ({ channel, signal }) => [
    route({
      method: 'POST',
      path: '/panel/api/setting/testSmtp',
      name: 'mail.testSmtp',
      doc: 'Sends one mail with the stored settings, also while `smtpEnable` is off, and says how far it came.',
      reply: bare(
        shape({
          success: bool(),
          stage: oneOf('connect', 'auth', 'send').description('where it ended'),
          msg: text(),
        }),
      ),
      handle: ({ reply }) => holdingOpen(reply.progressed, () => channel.test(signal)),
    }),
  ],
});
