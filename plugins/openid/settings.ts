// Where the provider is, and who this panel is to it.
import { bool, inSection, isLoopback, type SettingValues, setting, text } from '../../kernel/index.js';

const LONGEST_URL = 1024;
const CALLBACK = 'panel/api/x/openid/callback';

const when = { field: 'openidEnable' };
const line = (longest: number) =>
  text()
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');

/** Whether a call of this URL can be read on the way: by plain HTTP to another machine. */
export const isReadable = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname));

/** '' or a URL without query, fragment and user. Over plain HTTP anybody on the way could be the provider, or read the code. */
const place = (example: string) =>
  text()
    .max(LONGEST_URL)
    .custom((value: string) => {
      if (value === '') return value;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      // URL.canParse drops tabs and line breaks.
      if (!url || /[\p{Cc}\p{Cs}\s]/u.test(value) || url.search || url.hash || url.username || url.password)
        throw new Error(`it must be a URL without query, fragment and user, like ${example}`);
      if (isReadable(url))
        throw new Error(`it must begin with https:// unless it is on this machine, like ${example}`);
      return value;
    });

export const openidSettings = inSection('OpenID Connect', {
  openidEnable: setting(bool(), false, 'admins can log in with their account of a provider'),
  openidIssuer: setting(
    place('https://id.example.com/realms/staff'),
    '',
    'issuer of the provider, as it names itself',
    { when },
  ),
  openidPublicUrl: setting(
    place('https://panel.example.com/base/'),
    '',
    `address of this panel in the browser, with its base path; at the provider, register it with ${CALLBACK} behind it`,
    { when },
  ),
  openidClientId: setting(line(255), '', 'client id that the provider gave to this panel', { when }),
  openidClientSecret: setting(line(1024), '', 'secret of the client; blank if it has none', {
    when,
    secret: true,
  }),
  openidName: setting(line(40), '', 'name of the provider at the button; blank: OpenID Connect', { when }),
  openidScopes: setting(
    text()
      .max(255)
      .pattern(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'openid, then other scopes, with one space between')
      .example('openid profile email'),
    'openid profile email',
    'scopes to ask for',
    { when, level: 'advanced' },
  ),
  openidClaim: setting(
    text()
      .max(64)
      .pattern(/^[A-Za-z0-9_:/.-]*$/, 'the name of a claim'),
    '',
    'claim with the user name of an admin: links the account at its first login; blank: admins link it themselves. Choose one that users of the provider cannot change',
    { when, level: 'advanced' },
  ),
  openidAllowPrivate: setting(
    bool(),
    false,
    'the issuer may be at an address of this machine or a private network',
    { when, level: 'advanced' },
  ),
});
export type OpenidSettings = SettingValues<typeof openidSettings>;

/** The settings without which nobody can log in, and that are blank. */
export const missingIn = (values: Readonly<Record<string, unknown>>): string[] =>
  (['openidIssuer', 'openidPublicUrl', 'openidClientId'] as const).filter((name) => !values[name]);

export const isReady = (settings: OpenidSettings): boolean =>
  settings.openidEnable && missingIn(settings).length === 0;

/** The address to which the provider sends the browser back. */
export const callbackUrl = ({ openidPublicUrl: url }: OpenidSettings): URL =>
  new URL(CALLBACK, url.endsWith('/') ? url : `${url}/`);
