import { randomBytes } from 'node:crypto';
import {
  canonicalAddress,
  bool,
  hostName,
  int,
  oneOf,
  optional,
  text,
  variable,
  withDefault,
  word,
  setting,
  inSection,
} from '../../kernel/index.js';
import { pairFile } from '../certificates/contract.js';
import { orRemote } from '../remote-texts/contract.js';
import { agentSettings } from './agents/settings.js';
import { publicUrl } from './setting-texts.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** A prefix that is hard to guess: `/`, 16 letters and digits, `/`. */
export const randomPath = (): string =>
  `/${[...randomBytes(16)].map((byte) => LETTERS[byte % LETTERS.length]).join('')}/`;

/** A value of a header, which is one line; halves of surrogate pairs cannot be encoded. */
const headerText = (most = 1024) =>
  text()
    .max(most)
    .pattern(/^(?:[^\p{Cc}\p{Cs}]|\t)*$/u, 'text of one line without control characters');
/** Another text is sent as it is. */
const checkUrl = orRemote(() => undefined);
/** Schemes of pages and messengers; none that runs code when it is opened (`javascript:`, `data:`). */
const SCHEMES = [
  'https',
  'http',
  'mailto',
  'tel',
  'sms',
  'tg',
  'whatsapp',
  'viber',
  'sgnl',
  'matrix',
  'xmpp',
];

function linkOf(value: string): string {
  if (value === '') return '';
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(value) ?? [];
  const isKnown = scheme !== undefined && SCHEMES.includes(scheme.toLowerCase());
  const isHostAndPort = /^[^/?#:]*:\d+(?:[/?#]|$)/.test(value);
  if (scheme !== undefined && !isKnown && !isHostAndPort)
    throw new Error(`a link cannot begin with ${scheme}: here; use ${SCHEMES.join(':, ')}:`);
  const link = isKnown ? value : `https://${value}`;
  if (!URL.canParse(link.replaceAll(/\{\{\w+\}\}/g, 'x'))) throw new Error('it is not a valid link');
  return link;
}
const link = () => headerText().trim().prefs({ convert: true }).custom(linkOf);
const host = () =>
  text().custom((value: string, state) =>
    value === ''
      ? value
      : (hostName(value) ??
        state.error('any.custom', {
          error: new Error('it must be a host name or an address, without a port'),
        })),
  );

/** A template of remarks. */
const template = () =>
  text()
    .max(1024)
    .pattern(/^(?:[^\p{Cc}\p{Cs}]|[\t\r\n])*$/u, 'text without control characters');
/** Settings that the environment may set. */
export const listenerSettings = inSection('Subscription server', {
  subEnable: setting(bool(), true, 'serve subscriptions; otherwise every fetch is answered with 404'),
  subListen: setting(
    text().custom((value: string, state) =>
      value === '' || canonicalAddress(value) !== undefined
        ? value
        : state.error('any.custom', { error: new Error('it must be an IP address, or empty for all') }),
    ),
    '',
    'address of the subscription server, from the next start of the panel on; empty for all addresses',
    { level: 'advanced', change: 'panel' },
  ),
  subPort: setting(
    int().min(0).max(65_535),
    2096,
    'port of the subscription server, from the next start of the panel on; 0 takes a free one at each start',
    { change: 'panel' },
  ),
});

export const subscriptionSettings = inSection(
  'Subscription',
  {
    subURI: setting(
      publicUrl('https://sub.example.com/s/'),
      '',
      'URL of subscriptions as users reach it, before the id; empty for the host and port of this panel',
      { level: 'basic' },
    ),
    subUpdates: setting(int().min(0).max(525_600), 12, 'hours until a client program fetches again', {
      level: 'basic',
      unit: 'hours',
    }),
    subTitle: setting(headerText(), '', 'name of the subscription in client programs', { level: 'basic' }),
    subSupportUrl: setting(link(), '', 'support page or contact for users', { level: 'basic' }),
    subProfileUrl: setting(link(), '', 'web page of the subscription', {
      when: { field: 'subProfileMode', is: ['', 'custom'] },
    }),
    subProfileMode: setting(
      oneOf('', 'none', 'builtin', 'custom'),
      '',
      'web page that programs are told: none, that of this panel (builtin), or subProfileUrl (custom); empty: subProfileUrl if it is set',
    ),
    subAnnounce: setting(headerText(), '', 'message that client programs display'),
    subDomain: setting(
      host(),
      '',
      'the only host, beside loopback, under which subscriptions are served; and the host of links if neither inbound nor request has one',
      { section: 'Subscription server' },
    ),
    subCertFile: setting(
      pairFile(),
      '',
      'PEM certificate of the subscription server, which then serves HTTPS',
      { section: 'Subscription server' },
    ),
    subKeyFile: setting(pairFile(), '', 'PEM key of that certificate', { section: 'Subscription server' }),
    subMissLimit: setting(
      int().min(0).max(1_000_000),
      100,
      'requests for what is not there that an address may send in 10 minutes; then it gets 429 until they are over. 0: no limit',
      { section: 'Subscription server' },
    ),
    subCalendarExpireInclusive: setting(
      bool(),
      false,
      'of a client that renews on the first of the month and ends at midnight, tell programs the last second of the day before',
    ),
    subEnableRouting: setting(bool(), false, 'tell programs that the routing of the subscription is on'),
    subRoutingRules: setting(
      headerText(8192).custom((value: string) => {
        checkUrl(value);
        return value;
      }),
      '',
      'value of the header Routing, such as a link of app H; or the https URL of such a link or of a profile in JSON',
      { when: { field: 'subEnableRouting' } },
    ),
    subHideSettings: setting(bool(), false, 'ask programs to hide the settings of servers'),
    subInfoNodeEnable: setting(
      bool(),
      false,
      'send one entry whose name tells the user why there is no working link, instead of an empty list',
      { section: 'Names of links' },
    ),
    subStatusTemplate: setting(
      template(),
      '',
      'with subInfoNodeEnable, name of an entry before all others of a client whose links work, such as {{TRAFFIC_LEFT}}; it connects nowhere. Empty: none',
      { section: 'Names of links', when: { field: 'subInfoNodeEnable' } },
    ),
    subExpiredTemplate: setting(template(), '⏳ {{EMAIL}}: Expired', 'that name when the time is over', {
      section: 'Names of links',
      when: { field: 'subInfoNodeEnable' },
    }),
    subTrafficDepletedTemplate: setting(
      template(),
      '🚫 {{EMAIL}}: Traffic Depleted',
      'that name when the traffic is used up',
      { section: 'Names of links', when: { field: 'subInfoNodeEnable' } },
    ),
    subDisabledTemplate: setting(
      template(),
      '🚫 {{EMAIL}}: Disabled',
      'that name when an admin disabled it',
      { section: 'Names of links', when: { field: 'subInfoNodeEnable' } },
    ),
    subDeviceLimitTemplate: setting(
      template(),
      '📵 {{EMAIL}}: Too many devices',
      'that name for a device beyond the limit; empty: 404, which some programs explain themselves',
      { section: 'Names of links', when: { field: 'subInfoNodeEnable' } },
    ),
    remarkTemplate: setting(
      template(),
      '{{INBOUND}}-{{EMAIL}}|📊{{TRAFFIC_LEFT}}|⏳{{DAYS_LEFT}}D',
      'name of each link',
      { section: 'Names of links', level: 'basic' },
    ),
    subShowIdentityOnAllLinks: setting(
      bool(),
      false,
      'show the name of the client on every link, not only on the first',
      { section: 'Names of links' },
    ),
    ...agentSettings,
  },
  { level: 'advanced' },
);

const port = () => int().min(0).max(65_535);
export const subscriptionVariables = {
  host: variable(
    'WEIR_SUB_HOST',
    withDefault(word().hostname(), '0.0.0.0'),
    'address of the subscription server',
  ),
  port: variable(
    'WEIR_SUB_PORT',
    withDefault(port(), 2096),
    'port of the subscription server; 0 takes a free one',
  ),
  publicHost: variable(
    'WEIR_PUBLIC_HOST',
    optional(word().hostname().max(255)),
    'host of the links, whatever host the request used',
  ),
} as const;
