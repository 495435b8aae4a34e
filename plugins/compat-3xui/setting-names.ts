// Names of settings: ours, and those of older programs.

/** Settings of app H: `subApp` and one of these here, `subHapp` and the same there. */
const OF_APP =
  `AutoDetect ProviderId NewUrl FallbackUrl SubInfoColor SubInfoText SubInfoButtonText SubInfoButtonLink
  SubExpire SubExpireButtonLink NotificationExpire NoLimit AlwaysHwid TunMode TunType ExcludeRoutes ExcludeApns
  ColorProfile PingType AutoConnect AutoConnectType PerAppMode PerAppList`.split(/\s+/);

export const SETTING_NAMES: Readonly<Record<string, string>> = {
  engineRestartToCut: 'restartXrayOnClientDisable',
  appLinkEnable: 'happLinkEnable',
  edgetunnelUpdateInterval: 'warpUpdateInterval',
  hasEdgetunnelSecret: 'hasWarpSecret',
  hasVpnproviderSecret: 'hasNordSecret',
  engineOutboundTestUrl: 'xrayOutboundTestUrl',
  engineTemplateConfig: 'xrayTemplateConfig',
  msgBotApiServer: 'tgBotAPIServer',
  msgBotBackup: 'tgBotBackup',
  msgBotChatId: 'tgBotChatId',
  msgBotCpu: 'tgCpu',
  msgBotEnable: 'tgBotEnable',
  msgBotEnabledEvents: 'tgEnabledEvents',
  msgBotLang: 'tgLang',
  msgBotMemory: 'tgMemory',
  msgBotProxy: 'tgBotProxy',
  msgBotRunTime: 'tgRunTime',
  msgBotToken: 'tgBotToken',
  hasMsgBotToken: 'hasTgBotToken',
  clearMsgBotToken: 'clearTgBotToken',
  subAltAutoDetect: 'subClashAutoDetect',
  subAltEnable: 'subClashEnable',
  subAltEnableRouting: 'subClashEnableRouting',
  subAltRules: 'subClashRules',
  subAltURI: 'subClashURI',
  subAltUserAgentRegex: 'subClashUserAgentRegex',
  altFormatPath: 'subClashPath',
  jsonPath: 'subJsonPath',
  webhookAdminIds: 'discordAdminIds',
  webhookBackup: 'discordBotBackup',
  webhookChannelId: 'discordChannelId',
  webhookCpu: 'discordCpu',
  webhookEnable: 'discordBotEnable',
  webhookEnabledEvents: 'discordEnabledEvents',
  webhookLang: 'discordLang',
  webhookMemory: 'discordMemory',
  webhookRunTime: 'discordRunTime',
  webhookToken: 'discordBotToken',
  hasWebhookToken: 'hasDiscordBotToken',
  clearWebhookToken: 'clearDiscordBotToken',
  ...Object.fromEntries(OF_APP.map((name) => [`subApp${name}`, `subHapp${name}`])),
};

/** Further names that are read, and not written. */
const ALSO_READ: readonly (readonly [ours: string, theirs: string])[] = [['altFormatPath', 'subAltPath']];

type Values = Readonly<Record<string, unknown>>;
const pairs = Object.entries(SETTING_NAMES);

/** The one host that older panels permit, of those that this one permits. */
const firstHost = ({ allowedHosts }: Values): unknown =>
  (typeof allowedHosts === 'string' ? allowedHosts.split(',') : [allowedHosts].flat())[0] ?? '';

/** Adds the other names to what is there. */
export const withOldNames = (settings: Values): Values => ({
  ...settings,
  ...('allowedHosts' in settings && { webDomain: firstHost(settings) }),
  ...Object.fromEntries(
    pairs.flatMap(([ours, theirs]) => (ours in settings ? [[theirs, settings[ours]]] : [])),
  ),
});

/** Whether this tells of one of several hosts, so that the others are in the settings in force. */
export const needsHosts = (settings: Values): boolean =>
  typeof settings['webDomain'] === 'string' && !('allowedHosts' in settings);

/**
 * Their names become ours. Programs send back everything that they got, and change only what they know; some leave out
 * what they do not know, so `inForce` has the settings as they are.
 */
export function withOurNames(settings: Values, inForce: Values = {}): Values {
  const { webDomain, ...renamed }: Record<string, unknown> = settings;
  const known = 'allowedHosts' in settings ? settings : inForce;
  // A program that sends everything back means no change.
  if (typeof webDomain === 'string' && !('allowedHosts' in known && firstHost(known) === webDomain))
    renamed['allowedHosts'] = webDomain.trim() === '' ? [] : [webDomain];
  for (const [ours, theirs] of [...pairs, ...ALSO_READ])
    if (theirs in settings) {
      renamed[ours] = settings[theirs];
      delete renamed[theirs];
    }
  return renamed;
}
