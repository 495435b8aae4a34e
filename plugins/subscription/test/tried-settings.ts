// A value for each setting that a preview shows, with what makes it visible.

export interface Tried {
  readonly value: unknown;
  /** other settings that give this one a meaning */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** what is fetched, where it is not the standard path of ann */
  readonly ask?: Readonly<Partial<Record<'email' | 'agent' | 'path', string>>>;
}

/** What the panel of the test has. */
export const STORED = {
  ...{ subPath: '/s/', jsonPath: '/j/', altFormatPath: '/a/', subSingBoxPath: '/b/' },
  ...{ subEncrypt: false, remarkTemplate: '{{INBOUND}}', timeLocation: 'Europe/Berlin' },
};

const BUILTIN = { subProfileMode: 'builtin' };
const INFO = { subInfoNodeEnable: true };
const JSON_ON = { subJsonEnable: true };
const ALT_ON = { subAltEnable: true };
const BOX_ON = { subSingBoxEnable: true };
const json = (value: unknown, email = 'one'): Tried => ({
  value: typeof value === 'boolean' ? value : JSON.stringify(value),
  beside: JSON_ON,
  ask: { path: 'json', email },
});
const APP = {
  ...{ subAppAutoDetect: true, subAppSubInfoText: 'text', subAppSubExpire: true },
  ...{ subAppAutoConnect: true },
};
const app = (value: unknown): Tried => ({ value, beside: APP, ask: { agent: 'Happ/3' } });
/** One of those that the others need. */
const appFirst = (value: unknown): Tried => ({
  value,
  beside: { subAppAutoDetect: true },
  ask: { agent: 'Happ/3' },
});

export const TRIED: Readonly<Record<string, Tried>> = {
  subEnable: { value: false },
  subPath: { value: '/t/', beside: BUILTIN },
  subURI: { value: 'https://sub.example/y/', beside: BUILTIN },
  subUpdates: { value: 7 },
  subTitle: { value: 'home of {{EMAIL}}' },
  subSupportUrl: { value: 'mailto:a@b.example' },
  subProfileUrl: { value: 'pages.example/{{EMAIL}}' },
  subProfileMode: { value: 'none', beside: { subProfileUrl: 'pages.example/x' } },
  subAnnounce: { value: 'ho {{EMAIL}}' },
  subDomain: { value: 'cdn.example' },
  subCalendarExpireInclusive: { value: true, ask: { email: 'month' } },
  subEnableRouting: { value: true },
  subRoutingRules: { value: 'happ://routing/off' },
  subHideSettings: { value: true },
  subInfoNodeEnable: { value: true, ask: { email: 'off' } },
  subStatusTemplate: { value: '{{EMAIL}} has {{TRAFFIC_USED}}', beside: INFO },
  subExpiredTemplate: { value: 'over', beside: INFO, ask: { email: 'old' } },
  subTrafficDepletedTemplate: { value: 'gone', beside: INFO, ask: { email: 'used' } },
  subDisabledTemplate: { value: 'no', beside: INFO, ask: { email: 'off' } },
  remarkTemplate: { value: '{{EMAIL}} at {{INBOUND}}' },
  subShowIdentityOnAllLinks: { value: true, beside: { remarkTemplate: '{{INBOUND}}-{{EMAIL}}' } },
  subEncrypt: { value: true },
  subIncyEnableRouting: { value: true, beside: { subIncyRoutingRules: 'incy://routing/onadd/e30=' } },
  subIncyRoutingRules: { value: 'https://r.example/x?y', beside: { subIncyEnableRouting: true } },
  subResponseRules: {
    value: [{ agent: '^other' }, { agent: '(?i)v2rayng', headers: { 'x-a': 'b' } }],
    ask: { agent: 'V2rayNG/1' },
  },
  subAltAutoDetect: { value: true, beside: ALT_ON, ask: { agent: 'ClashMeta/1' } },
  subAltUserAgentRegex: {
    value: '^mine$',
    beside: { ...ALT_ON, subAltAutoDetect: true },
    ask: { agent: 'mine' },
  },
  subJsonAutoDetect: {
    value: true,
    beside: { ...JSON_ON, subJsonUserAgentRegex: 'test' },
    ask: { agent: 'test' },
  },
  subJsonUserAgentRegex: {
    value: '^mine$',
    beside: { ...JSON_ON, subJsonAutoDetect: true },
    ask: { agent: 'mine' },
  },
  subSingBoxAutoDetect: { value: true, beside: BOX_ON, ask: { agent: 'sing-box 1.12' } },
  subSingBoxUserAgentRegex: {
    value: '^mine$',
    beside: { ...BOX_ON, subSingBoxAutoDetect: true },
    ask: { agent: 'mine' },
  },
  subJsonEnable: { value: true },
  subJsonAlwaysArray: json(true, 'alone'),
  subJsonMux: json({ concurrency: 8 }),
  subJsonFinalMask: json({
    tcp: [{ type: 'fragment', settings: { packets: 'tlshello', length: '100-200', delay: '10-20' } }],
  }),
  subJsonRules: json([{ type: 'field', domain: ['a.example'], outboundTag: 'direct' }]),
  subJsonRoutingRules: json({ DirectSites: ['a.example'] }),
  subJsonDns: json(['1.1.1.1']),
  subJsonObservatory: json({ interval: '45s' }, 'ann'),
  subAltEnable: { value: true },
  subAltFixedPaths: { value: true, beside: ALT_ON },
  subAltEnableRouting: {
    value: true,
    beside: { ...ALT_ON, subAltRules: 'DOMAIN,a.b,DIRECT' },
    ask: { path: 'alt' },
  },
  subAltRules: {
    value: 'DOMAIN,a.b,DIRECT',
    beside: { ...ALT_ON, subAltEnableRouting: true },
    ask: { path: 'alt' },
  },
  subSingBoxEnable: { value: true },
  subSingBoxTemplate: {
    value: JSON.stringify({ outbounds: [{ type: 'selector', tag: 'mine', outbounds: ['{all}'] }] }),
    beside: BOX_ON,
    ask: { path: 'sing-box' },
  },
  subAppAutoDetect: { value: true, ask: { agent: 'Happ/3' } },
  subAppSubInfoText: appFirst('Привет'),
  subAppSubExpire: appFirst(true),
  subAppAutoConnect: appFirst(true),
  subAppProviderId: app('provider'),
  subAppNewUrl: app('new.example/x'),
  subAppFallbackUrl: app('https://b.example'),
  subAppSubInfoColor: app('success'),
  subAppSubInfoButtonText: app('more'),
  subAppSubInfoButtonLink: app('https://c.example'),
  subAppSubExpireButtonLink: app('https://d.example'),
  subAppNotificationExpire: app(true),
  subAppNoLimit: app(true),
  subAppAlwaysHwid: app(true),
  subAppTunMode: app('gvisor'),
  subAppTunType: app('xray'),
  subAppExcludeRoutes: app('10.0.0.0/8'),
  subAppExcludeApns: app(true),
  subAppColorProfile: app('{ "a": 1 }'),
  subAppPingType: app('http'),
  subAppAutoConnectType: app('last'),
  subAppPerAppMode: app('exclude'),
  subAppPerAppList: app('a.b'),
  subAppSocksAuthMode: app('auto'),
  subAppHttpAuthMode: app('disable'),
  subAppIAutoDetect: {
    value: true,
    beside: { subAppIHeaders: { 'Sort-Order': 'ping' } },
    ask: { agent: 'INCY/2' },
  },
  subAppIHeaders: {
    value: { 'Sort-Order': 'name' },
    beside: { subAppIAutoDetect: true },
    ask: { agent: 'INCY/2' },
  },
};

/** They are tried, and no list or header shows them: paths and URLs of other formats, and a name for devices beyond a limit. */
export const UNSEEN: readonly string[] = [
  ...['jsonPath', 'altFormatPath', 'subSingBoxPath', 'subJsonURI', 'subAltURI', 'subDeviceLimitTemplate'],
];

/** They change no preview. */
export const IGNORED: readonly string[] = [
  ...['subListen', 'subPort', 'subCertFile', 'subKeyFile', 'subMissLimit', 'subThemeDir'],
];
