import { defineErrors } from '../../kernel/index.js';

export const errors = defineErrors('msg-bot', {
  NOT_CONNECTED: [409, 'the bot is not connected; see the settings msgBotEnable and msgBotToken'],
  NOT_SENT: [502, 'no chat of an admin could be reached; see msgBotChatId'],
  NO_WEBHOOK: [404, 'there is nothing here'],
  TOO_LARGE: [413, 'the update is too large'],
});
