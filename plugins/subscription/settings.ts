import { randomBytes } from 'node:crypto';
import { bool, int, optional, text, variable, withDefault, word } from '../../kernel/index.js';
import { setting } from '../settings/contract.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** A prefix that nobody guesses: `/` and 16 letters and digits and `/`. */
export const randomPath = (): string =>
  `/${[...randomBytes(16)].map((byte) => LETTERS[byte % LETTERS.length]).join('')}/`;

/** Shown in headers, so it must not break out of its line. */
const headerText = () =>
  text()
    .max(1024)
    .pattern(/^[^\r\n\0]*$/, 'text of one line');
const link = () =>
  headerText().custom((value: string) =>
    value === '' || /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:|tel:)/i.test(value) ? value : `https://${value}`,
  );

export const subscriptionSettings = {
  subUpdates: setting(int().min(0).max(525_600), 12, 'hours after which a client program fetches again'),
  subTitle: setting(headerText(), '', 'name of the subscription in client programs'),
  subSupportUrl: setting(link(), '', 'where a client program sends its user for help'),
  subProfileUrl: setting(link(), '', 'page about the subscription'),
  subAnnounce: setting(headerText(), '', 'message that client programs show'),
  subDomain: setting(
    text()
      .max(255)
      .pattern(/^[A-Za-z0-9.:_-]*$/, 'host name'),
    '',
    'host of the links when neither inbound nor request names one',
  ),
  remarkTemplate: setting(
    text().max(1024),
    '{{INBOUND}}-{{EMAIL}}|📊{{TRAFFIC_LEFT}}|⏳{{DAYS_LEFT}}D',
    'name of each link',
  ),
  subShowIdentityOnAllLinks: setting(
    bool(),
    false,
    'the name of the client stands on every link, not only on the first',
  ),
} as const;

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
    'host of the links when the request itself came to a loopback address',
  ),
} as const;
