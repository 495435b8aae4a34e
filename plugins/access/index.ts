import {
  authenticate,
  contribute,
  definePlugin,
  everywhere,
  job,
  maybe,
  optional,
  Permits,
  provide,
  Sessions,
  singleton,
  tap,
  variable,
  word,
} from '../../kernel/index.js';
import { AuditedHooks, AuditTrail } from '../audit/contract.js';
import { othersWrote, Panels } from '../cluster/contract.js';
import { NotTransferred, OwnSettings, panelSettings, Settings, UpdateKeys } from '../settings/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { accountRoutes } from './account-routes.js';
import { AdminAccounts } from './admin-accounts.js';
import { adminRoutes } from './admin-routes.js';
import { Admins } from './admins.js';
import { Arrivals } from './arrivals.js';
import { Attempts } from './attempts.js';
import { BlockStore } from './block-store.js';
import { Callers } from './callers.js';
import { commands } from './commands.js';
import {
  AccessArrivals,
  AdminList,
  beforeLogin,
  CallerRights,
  duringAdminSave,
  duringTokenSave,
  loginAttempted,
  OtherLogins,
  RoleHolders,
  sessionToken,
} from './contract.js';
import { Credentials } from './credentials.js';
import { DeviceCookie } from './device-cookie.js';
import { errors } from './errors.js';
import { FactorChanges } from './factor-changes.js';
import { createFirstAdmin } from './first-login.js';
import { KnownAddresses } from './known-addresses.js';
import { KnownRoles } from './known-roles.js';
import { LimitedKinds } from './limited-kinds.js';
import { LoginLimits } from './login-limits.js';
import { Login } from './login.js';
import { LoginReports } from './login-reports.js';
import { NameThrottle } from './name-throttle.js';
import { OwnFactor } from './own-factor.js';
import { PasswordQueue } from './password-queue.js';
import { ProvenLogins } from './proven-logins.js';
import { admins, tokens } from './recorded.js';
import { SharedFailures } from './shared-failures.js';
import { RecoveryCodes } from './recovery-codes.js';
import { Holders } from './role-holders.js';
import { routes } from './routes.js';
import { SecondFactors } from './second-factors.js';
import { securityRoutes } from './security-routes.js';
import { SessionOpener } from './session-opener.js';
import { SignIns } from './sign-ins.js';
import { migrations, sealedSecrets, tables } from './tables.js';
import { Tokens } from './tokens.js';
import { TwoFactor, twoFactorSettings } from './two-factor.js';
import { confirmations, TwoFactorRules } from './two-factor-rules.js';
import { blockedLogin, failedLogin, successfulLogin } from './notified.js';

export default definePlugin({
  name: 'access',
  version: '0.1.0',
  api: 1,
  essential: true,
  about:
    'Admins and their roles, their logins with a second factor and limits against guessing, and API tokens for programs.',
  uses: {
    sessions: Sessions,
    allSettings: Settings,
    secrets: Secrets,
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
  },
  settings: twoFactorSettings,
  contributes: ({ ownFactor }) => [
    contribute(UpdateKeys, confirmations),
    contribute(OwnSettings, ownFactor),
    contribute(SealedColumns, sealedSecrets),
    contribute(NotTransferred, {
      setting: 'twoFactorEnable' satisfies keyof typeof twoFactorSettings,
      reason: 'it needs the secret of an authenticator',
    }),
    contribute(AuditedHooks, admins),
    contribute(AuditedHooks, tokens),
    contribute(NotifiedEvents, blockedLogin),
    contribute(NotifiedEvents, failedLogin),
    contribute(NotifiedEvents, successfulLogin),
  ],
  hooks: [beforeLogin, sessionToken, loginAttempted, duringAdminSave, duringTokenSave],
  config: {
    username: variable(
      'WEIR_ADMIN_USERNAME',
      optional(word().max(255)),
      'name of the first admin; used when there is none yet',
    ),
    password: variable(
      'WEIR_ADMIN_PASSWORD',
      optional(word().min(8).max(1024)),
      'password of the first admin; used when there is none yet',
    ),
  },
  tables,
  migrations,
  services: {
    queue: singleton(PasswordQueue),
    admins: singleton(Admins),
    roles: singleton(KnownRoles),
    tokens: singleton(Tokens),
    callers: singleton(Callers),
    holders: singleton(Holders),
    accounts: singleton(AdminAccounts),
    kinds: singleton(LimitedKinds),
    blocks: singleton(BlockStore),
    shared: singleton(SharedFailures),
    limits: singleton(LoginLimits),
    throttle: singleton(NameThrottle),
    addresses: singleton(KnownAddresses),
    devices: singleton(DeviceCookie),
    factors: singleton(SecondFactors),
    recoveryCodes: singleton(RecoveryCodes),
    factorChanges: singleton(FactorChanges),
    attempts: singleton(Attempts),
    twoFactor: singleton(TwoFactor),
    rules: singleton(TwoFactorRules),
    ownFactor: singleton(OwnFactor),
    reports: singleton(LoginReports),
    opener: singleton(SessionOpener),
    login: singleton(Login),
    otherLogins: singleton(ProvenLogins),
    credentials: singleton(Credentials),
    signIns: singleton(SignIns),
    arrivals: singleton(Arrivals),
  },
  provides: ({ arrivals, callers, holders, otherLogins, accounts }) => [
    provide(AdminList, accounts),
    provide(AccessArrivals, arrivals),
    provide(OtherLogins, otherLogins),
    provide(CallerRights, callers),
    provide(Permits, callers),
    provide(RoleHolders, holders),
  ],
  taps: ({ tokens, signIns, kinds, callers }) => [
    // What an admin may no longer do, by a call of another panel, ends the connections to this one.
    tap(othersWrote, () => callers.changed()),
    tap(loginAttempted, ({ attempts }) => signIns.record(attempts)),
    tap(authenticate, ({ authorization, request }) => {
      // Another kind of authorization is for a proxy in front.
      if (!/^bearer\b/i.test(authorization ?? '')) return undefined;
      const token = /^Bearer +(\S+)$/i.exec(authorization as string)?.[1];
      const known = token === undefined ? undefined : tokens.use(token);
      if (!known || !callers.hasMaker(known)) throw errors.WRONG_TOKEN();
      if (known.kind === '') return { name: known.name, kind: 'token' };
      kinds.require(known.kind, request);
      return { name: known.name, kind: known.kind };
    }),
  ],
  routes: (scope) => [
    ...routes(scope),
    ...securityRoutes(scope),
    ...adminRoutes(scope),
    ...accountRoutes(scope),
  ],
  commands,
  jobs: ({ limits, tokens }) => [
    everywhere(job('login-blocks', '5s', () => limits.flush())),
    everywhere(job('token-use', '1m', () => tokens.flush())),
  ],
  stop: async ({ limits, tokens }) => {
    await limits.flush();
    await tokens.flush();
  },
  start: async ({ admins, factors, limits, devices, config, allSettings, dataDirectory, log, self }) => {
    await limits.load();
    await devices.start();
    await factors.start();
    await createFirstAdmin(admins, config, {
      basePath: () => allSettings.read(panelSettings).webBasePath,
      dataDirectory,
      log,
      self,
    });
  },
});
