import { bool, int, setting, text, inSection } from '../../kernel/index.js';
import { runTimeProblem } from './run-time.js';

/** A text that may be blank. */
const checked = (most: number, problem: (value: string) => string | undefined) =>
  text()
    .max(most)
    .trim()
    .custom((value: string) => {
      const wrong = value === '' ? undefined : problem(value);
      if (wrong !== undefined) throw new Error(wrong);
      return value;
    });
const fits =
  (pattern: RegExp, what: string) =>
  (value: string): string | undefined =>
    pattern.test(value) ? undefined : `it must be ${what}, or blank`;

export const TOKEN = /^(?:Bot )?[A-Za-z0-9._-]{20,250}$/;
export const CHANNEL = /^\d{5,25}$/;
/** The queue of notifications takes no longer list from a channel. */
const MOST_EVENTS = 200;
const eventsProblem = (value: string): string | undefined => {
  if (!/^[A-Za-z0-9.,_ -]*$/.test(value)) return 'it must be comma-separated names of events';
  return value.split(',').length > MOST_EVENTS ? `it may have ${MOST_EVENTS} names` : undefined;
};
const percent = () => int().min(0).max(100);

export const webhookSettings = inSection('Chat bot', {
  webhookEnable: setting(bool(), false, 'whether the chat bot sends notifications and reports'),
  webhookToken: setting(checked(256, fits(TOKEN, 'the token of a bot')), '', 'token of the bot', {
    when: { field: 'webhookEnable' },
    secret: true,
  }),
  webhookChannelId: setting(
    checked(25, fits(CHANNEL, 'the id of a channel, which is a number')),
    '',
    'id of the channel to which the bot writes',
    { when: { field: 'webhookEnable' } },
  ),
  webhookAdminIds: setting(
    checked(2_048, fits(/^\d{5,25}(?:\s*,\s*\d{5,25})*$/, 'ids of users, comma-separated')),
    '',
    'ids of admins in the chat; kept for older programs, because this bot takes no commands',
    { when: { field: 'webhookEnable' }, level: 'advanced' },
  ),
  webhookRunTime: setting(
    checked(128, runTimeProblem),
    '@daily',
    'when the report is sent: @hourly, @daily, @weekly, @monthly, @every 8h, or a cron expression of five or six fields; blank for never',
    { when: { field: 'webhookEnable' }, section: 'Reports' },
  ),
  webhookBackup: setting(bool(), false, 'whether a copy of the database is sent with the report', {
    when: { field: 'webhookEnable' },
    section: 'Reports',
  }),
  webhookCpu: setting(percent(), 80, 'percent below which no alarm of the processors is sent; 0 for none', {
    when: { field: 'webhookEnable' },
    level: 'advanced',
    unit: '%',
  }),
  webhookMemory: setting(percent(), 80, 'percent below which no alarm of the memory is sent; 0 for none', {
    when: { field: 'webhookEnable' },
    level: 'advanced',
    unit: '%',
  }),
  webhookLang: setting(
    text()
      .max(35)
      .pattern(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, 'language tag like en-US')
      .example('en-US'),
    'en-US',
    'language of the messages: en, fa, ru or zh; English for any other',
    { when: { field: 'webhookEnable' }, level: 'advanced' },
  ),
  webhookEnabledEvents: setting(
    checked(2_048, eventsProblem),
    'login.attempt,cpu.high',
    'events that the bot sends, comma-separated; blank for none',
    { when: { field: 'webhookEnable' }, level: 'advanced' },
  ),
});
export type WebhookSettings = typeof webhookSettings;
