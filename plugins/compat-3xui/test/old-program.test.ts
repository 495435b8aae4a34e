// Who counts as an older program; and what tokens from before a login cost.
import test from 'ava';
import type { RequestInfo, SessionsApi } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { LoginTokens, TOKEN_LIFE_MS } from '../login-tokens.js';
import { LOGIN_TOKEN_LENGTH, OldPrograms } from '../old-program.js';
import { SETTING_NAMES, withOldNames, withOurNames } from '../setting-names.js';

const OPENED_WITH_TOKEN = 'a';
const sessions = {
  csrfOf: (id: string | undefined) =>
    id === undefined ? undefined : 'x'.repeat(id === OPENED_WITH_TOKEN ? LOGIN_TOKEN_LENGTH : 43),
} as unknown as SessionsApi;
const programs = new OldPrograms({ sessions });
const caller = (headers: RequestInfo['headers'], session?: string) => ({
  headers,
  cookies: session === undefined ? {} : { weir_session: session },
  who: { name: '', kind: 'anyone' } as const,
});

for (const [who, headers, session, isOne, mayBeOne] of [
  ['nobody', {}, undefined, false, false],
  ['3xui-api-client by its name', { 'user-agent': '3xui-api-client/2.0.0' }, undefined, true, true],
  ['a program that has this name in it', { 'user-agent': 'my-3xui-api-client/2' }, undefined, false, false],
  ['the old cookie alone', { cookie: '3x-ui=a' }, OPENED_WITH_TOKEN, true, true],
  ['the old cookie after another', { cookie: 'lang=en; 3x-ui=b' }, 'b', true, true],
  ['a cookie whose name ends like it', { cookie: 'not3x-ui=b' }, 'b', false, false],
  ['a browser with both cookies', { cookie: '3x-ui=b; weir_session=b' }, 'b', false, false],
  ['a program with both cookies', { cookie: '3x-ui=a; weir_session=a' }, OPENED_WITH_TOKEN, true, true],
  ['our cookie alone', { cookie: 'weir_session=a' }, OPENED_WITH_TOKEN, false, false],
  ['py3xui', { accept: 'application/json', 'user-agent': 'python-requests/2' }, undefined, false, true],
  ['AsyncApi', { accept: 'application/json', 'user-agent': 'python-httpx/0.28' }, undefined, false, true],
  ['another Python program', { accept: '*/*', 'user-agent': 'python-requests/2' }, undefined, false, false],
  ['another program', { accept: 'application/json', 'user-agent': 'curl/8' }, undefined, false, false],
] as const)
  test(`${who} is${isOne ? '' : mayBeOne ? ' perhaps' : ' not'} an older program`, (t) => {
    t.is(programs.isOne(caller(headers, session)), isOne);
    t.is(programs.mayBeOne(caller(headers, session)), mayBeOne);
  });

const IP = '192.0.2.7';
function tokensAt(clock: FakeClock) {
  const tokens = new LoginTokens({ clock, sessions });
  const { handle } = tokens.issuing({ handle: () => 'of a session' } as never);
  const reply = { cookie: () => undefined };
  const issue = () =>
    (handle as unknown as (input: object) => string)({ ip: IP, headers: {}, cookies: {}, reply });
  const take = (token: string) =>
    tokens.take({ ip: IP, headers: { 'x-csrf-token': token }, cookies: { '3x-ui': token } });
  return { issue, take };
}

test('at most ten thousand tokens are remembered as used, and each until its end', (t) => {
  const clock = new FakeClock();
  const { issue, take } = tokensAt(clock);
  const first = issue();
  t.is(first.length, LOGIN_TOKEN_LENGTH);
  t.is(take(first), first);
  for (let i = 1; i < 10_000; i++) take(issue());
  const late = issue();
  t.is(take(late), undefined, 'a login then gets a new token');
  t.is(take(first), undefined, 'no used one is forgotten for it');
  clock.tick(TOKEN_LIFE_MS);
  const next = issue();
  t.is(take(next), next);
});

/** Settings of the other panel that have another name here. */
const THEIRS = `discordAdminIds discordBotBackup discordBotEnable discordBotToken discordChannelId discordCpu
  discordEnabledEvents discordLang discordMemory discordRunTime clearDiscordBotToken hasDiscordBotToken happLinkEnable
  subClashAutoDetect subClashEnable subClashEnableRouting subClashUserAgentRegex subClashPath subClashRules subClashURI subJsonPath tgBotAPIServer tgBotBackup
  tgBotChatId tgBotEnable tgBotProxy tgBotToken tgCpu tgEnabledEvents tgLang tgMemory tgRunTime clearTgBotToken
  hasTgBotToken warpUpdateInterval hasWarpSecret hasNordSecret xrayOutboundTestUrl xrayTemplateConfig restartXrayOnClientDisable subHappAutoDetect subHappProviderId
  subHappNewUrl subHappFallbackUrl subHappSubInfoColor subHappSubInfoText subHappSubInfoButtonText
  subHappSubInfoButtonLink subHappSubExpire subHappSubExpireButtonLink subHappNotificationExpire subHappNoLimit
  subHappAlwaysHwid subHappTunMode subHappTunType subHappExcludeRoutes subHappExcludeApns subHappColorProfile
  subHappPingType subHappAutoConnect subHappAutoConnectType subHappPerAppMode subHappPerAppList`.split(/\s+/);

test('each setting of the other panel has one name here, and comes back under it', (t) => {
  t.deepEqual(Object.values(SETTING_NAMES).sort(), [...THEIRS].sort());
  const ours = Object.fromEntries(Object.keys(SETTING_NAMES).map((name, i) => [name, i]));
  const shown = withOldNames(ours);
  t.is(Object.keys(shown).length, 2 * THEIRS.length);
  t.deepEqual(withOurNames(shown), ours);
  t.deepEqual(withOurNames({ ...shown, tgLang: 'fa' }), { ...ours, msgBotLang: 'fa' });
});

test('the one host of the other panel is the first of those that this one permits', (t) => {
  const hosts = ['a.example', 'b.example'];
  t.is(withOldNames({ allowedHosts: hosts })['webDomain'], 'a.example');
  t.is(withOldNames({ allowedHosts: [] })['webDomain'], '');
  t.deepEqual(withOurNames(withOldNames({ allowedHosts: hosts })), { allowedHosts: hosts }, 'no change');
  t.deepEqual(withOurNames({ allowedHosts: 'a.example,b.example', webDomain: 'a.example' }), {
    allowedHosts: 'a.example,b.example',
  });
  t.deepEqual(withOurNames({ webDomain: 'c.example' }), { allowedHosts: ['c.example'] });
  t.deepEqual(withOurNames({ allowedHosts: hosts, webDomain: '' }), { allowedHosts: [] });
  t.deepEqual(withOurNames({ pageSize: 10 }), { pageSize: 10 });
  t.deepEqual(withOurNames({ webDomain: 'a.example' }, { allowedHosts: hosts }), {}, 'the others stay');
  for (const webDomain of ['', ' '])
    t.deepEqual(withOurNames({ webDomain }, { allowedHosts: hosts }), { allowedHosts: [] });
  for (const wrong of [null, 5, {}])
    t.deepEqual(withOurNames({ allowedHosts: wrong, webDomain: 'c.example' }), {
      allowedHosts: ['c.example'],
    });
});
