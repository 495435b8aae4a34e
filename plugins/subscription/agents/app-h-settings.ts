// Settings of app H, one for each of its headers, under the names that older panels have.
import { bool, setting, text, inSection } from '../../../kernel/index.js';
import { type AppHeaders, APP_H, appHeadersProblem } from './app-headers.js';

/** A setting that becomes a header. */
const said = (header: string, about: string, initial = '') => ({
  ...setting(
    text()
      .max(2048)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters')
      .custom((value: string) => {
        const problem = appHeadersProblem(APP_H, { [header]: value });
        if (problem !== undefined) throw new Error(problem);
        return value;
      }),
    initial,
    `app H: ${about}`,
  ),
  header,
});
const isOn = (header: string, about: string) => ({ ...setting(bool(), false, `app H: ${about}`), header });

export const appHSettings = inSection(
  'App H',
  {
    subAppProviderId: said('ProviderID', 'id of the provider'),
    subAppNewUrl: said('New-Url', 'URL of the subscription from now on'),
    subAppFallbackUrl: said('Fallback-Url', 'URL of the subscription when this one is out of reach'),
    subAppSubInfoColor: said('Sub-Info-Color', 'color of the information: blue, green or red', 'blue'),
    subAppSubInfoText: said('Sub-Info-Text', 'information above the servers'),
    subAppSubInfoButtonText: said('Sub-Info-Button-Text', 'text of its button'),
    subAppSubInfoButtonLink: said('Sub-Info-Button-Link', 'link of its button'),
    subAppSubExpire: isOn('Sub-Expire', 'warn before the subscription ends'),
    subAppSubExpireButtonLink: said('Sub-Expire-Button-Link', 'link of the button in that warning'),
    subAppNotificationExpire: isOn('Notification-Subs-Expire', 'notify before the subscription ends'),
    subAppNoLimit: isOn('No-Limit-Enabled', 'show no limit'),
    subAppAlwaysHwid: isOn('Subscription-Always-Hwid-Enable', 'always send the id of the device'),
    subAppTunMode: said('Tun-Mode', 'mode of its TUN: system or gvisor'),
    subAppTunType: said('Tun-Type', 'kind of its TUN: singbox, tun2proxy, default or xray'),
    subAppExcludeRoutes: said('Exclude-Routes', 'networks beside the tunnel, with commas between them'),
    subAppExcludeApns: isOn('Exclude-Apns-Enable', 'keep push messages of Apple beside the tunnel'),
    subAppColorProfile: said('Color-Profile', 'colors of the app, as JSON on one line'),
    subAppPingType: said('Ping-Type', 'how it measures servers: proxy, proxy-head, tcp or icmp'),
    subAppAutoConnect: isOn('Subscription-Autoconnect', 'connect when it starts'),
    subAppAutoConnectType: said(
      'Subscription-Autoconnect-Type',
      'to which server: lowestdelay, lastused or random',
      'lowestdelay',
    ),
    subAppPerAppMode: said(
      'Per-App-Proxy-Mode',
      'of the apps in subAppPerAppList: off, on (only these) or bypass',
      'off',
    ),
    subAppPerAppList: said('Per-App-Proxy-List', 'names of apps, with commas between them'),
    subAppSocksAuthMode: said('Socks-Auth-Mode', 'login at its SOCKS port: auto or disable'),
    subAppHttpAuthMode: said('Http-Auth-Mode', 'login at its HTTP port: auto or disable'),
  },
  { level: 'advanced', when: { field: 'subAppAutoDetect' } },
);

/** These say nothing without another. */
const NEEDS: Readonly<Record<string, string>> = {
  'Sub-Info-Color': 'subAppSubInfoText',
  'Sub-Info-Button-Text': 'subAppSubInfoText',
  'Sub-Info-Button-Link': 'subAppSubInfoText',
  'Sub-Expire-Button-Link': 'subAppSubExpire',
  'Subscription-Autoconnect-Type': 'subAppAutoConnect',
};

/** The headers by name. */
export function appHHeaders(values: Readonly<Record<string, unknown>>): AppHeaders {
  const isSaid = (header: string): boolean => {
    const needed = NEEDS[header];
    return needed === undefined || (values[needed] !== '' && values[needed] !== false);
  };
  return Object.fromEntries(
    Object.entries(appHSettings).flatMap(([name, { header }]) =>
      isSaid(header) ? [[header, String(values[name])]] : [],
    ),
  );
}
