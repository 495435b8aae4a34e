import { bool, setting, text, inSection } from '../../kernel/index.js';
import { adminIdsProblem } from './admins.js';
import { runTimeProblem } from './report/run-time.js';

const TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{20,200}$/;
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/;
const PROXIES = ['http:', 'https:', 'socks5:', 'socks5h:'];
const EVENTS = /^[A-Za-z0-9.,_ -]*$/;

/** A text that may be blank; `problem` says what is wrong with any other. */
const checked = (most: number, problem: (value: string) => string | undefined) =>
  text()
    .max(most)
    .custom((sent: string) => {
      const value = sent.trim();
      const wrong = value === '' ? undefined : problem(value);
      if (wrong !== undefined) throw new Error(wrong);
      return value;
    });

function addressProblem(value: string, protocols: readonly string[]): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !protocols.includes(url.protocol) || url.hostname === '')
    return `it must be an address that begins with ${protocols.map((name) => `${name}//`).join(', ')}, or blank`;
  if (url.username !== '' || url.password !== '') return 'it must have no user name and no password';
  return url.search !== '' || url.hash !== '' ? 'it must have no query and no fragment' : undefined;
}

function proxyProblem(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isProxy = url && PROXIES.includes(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
  return isProxy && url.search === '' && url.hash === ''
    ? undefined
    : 'it must be a proxy like socks5://127.0.0.1:1080 or http://user:password@proxy.example.com:3128, or blank';
}

/** The queue of notifications takes no longer list from a channel. */
const MOST_EVENTS = 200;
const eventsProblem = (value: string): string | undefined => {
  if (!EVENTS.test(value)) return 'it must be comma-separated names of events';
  return value.split(',').length > MOST_EVENTS ? `it may have ${MOST_EVENTS} names` : undefined;
};

export const botSettings = inSection('Messenger bot', {
  msgBotEnable: setting(bool(), false, 'whether the bot runs'),
  msgBotToken: setting(
    checked(256, (value) =>
      TOKEN.test(value) ? undefined : 'it must be a token of a bot, like 123456:ABC-DEF, or blank',
    ),
    '',
    'token of the bot',
    { when: { field: 'msgBotEnable' }, secret: true },
  ),
  msgBotProxy: setting(
    checked(1_024, proxyProblem),
    '',
    'proxy for the calls of the bot, which may hold a password; blank: that of WEIR_OUTGOING_PROXY, or none',
    { when: { field: 'msgBotEnable' }, level: 'advanced', secret: true },
  ),
  msgBotApiServer: setting(
    checked(1_024, (value) => addressProblem(value, ['https:', 'http:'])),
    '',
    'address of a Bot API server of your own; blank for the public one',
    { when: { field: 'msgBotEnable' }, level: 'advanced' },
  ),
  msgBotChatId: setting(
    checked(4_096, adminIdsProblem),
    '',
    'ids of the users who are admins of the bot, comma-separated; ids of groups (negative) get notifications and reports only',
    { when: { field: 'msgBotEnable' } },
  ),
  msgBotRunTime: setting(
    checked(128, runTimeProblem),
    '@daily',
    'when the report is sent: @hourly, @daily, @weekly, @monthly, @every 8h, or a cron expression of five or six fields; blank for never',
    { when: { field: 'msgBotEnable' }, section: 'Reports' },
  ),
  msgBotBackup: setting(bool(), false, 'whether a backup is sent with the report', {
    when: { field: 'msgBotEnable' },
    section: 'Reports',
  }),
  msgBotLang: setting(
    text().max(35).pattern(LANGUAGE, 'language tag like en-US').example('fa-IR'),
    'en-US',
    'language of the bot: en, fa, ru or zh; English for any other',
    { when: { field: 'msgBotEnable' }, level: 'advanced' },
  ),
  msgBotEnabledEvents: setting(
    checked(2_048, eventsProblem).example('outbound.down'),
    'login.attempt,cpu.high',
    'events of which the bot notifies, comma-separated; blank for none',
    { when: { field: 'msgBotEnable' }, level: 'advanced' },
  ),
  msgBotWebhook: setting(
    checked(1_024, (value) => addressProblem(value, ['https:'])),
    '',
    'address of this panel, with its base path, at which the Bot API delivers updates; blank: the bot fetches them',
    { when: { field: 'msgBotEnable' }, level: 'advanced' },
  ),
});
export type BotSettings = typeof botSettings;
