import { contribute, definePlugin, maybe, Sessions, singleton, tap } from '../../kernel/index.js';
import { CallerRights, duringAdminSave, LoginMethods, OtherLogins } from '../access/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { beforeSettingsSave } from '../settings/contract.js';
import { errors } from './errors.js';
import { Flow, METHOD } from './flow.js';
import { Links } from './links.js';
import { PendingLogins } from './pending.js';
import { Provider } from './provider.js';
import { ProviderFetch } from './provider-fetch.js';
import { routes } from './routes.js';
import { isReady, missingIn, openidSettings } from './settings.js';
import { migrations, sealedKeys, tables } from './tables.js';
import { Unlinking } from './unlinking.js';

export default definePlugin({
  name: 'openid',
  version: '0.1.0',
  api: 1,
  about: 'Login of admins by OpenID Connect.',
  uses: {
    logins: OtherLogins,
    rights: CallerRights,
    sessions: Sessions,
    outgoing: Outgoing,
    secrets: Secrets,
    audit: maybe(AuditTrail),
  },
  settings: openidSettings,
  tables,
  migrations,
  services: {
    calls: singleton(ProviderFetch),
    provider: singleton(Provider),
    pending: singleton(PendingLogins),
    links: singleton(Links),
    unlinking: singleton(Unlinking),
    flow: singleton(Flow),
  },
  contributes: ({ calls, settings }) => [
    contribute(OutgoingHosts, calls.access),
    contribute(SealedColumns, sealedKeys),
    contribute(LoginMethods, {
      method: METHOD,
      label: () => {
        const now = settings.read();
        return isReady(now) ? now.openidName || 'OpenID Connect' : undefined;
      },
    }),
  ],
  taps: ({ links }) => [
    tap(
      beforeSettingsSave,
      ({ changes, values }) => {
        const [missing] = values['openidEnable'] === true ? missingIn(values) : [];
        if (missing === undefined || !Object.keys(changes).some((name) => name.startsWith('openid'))) return;
        throw errors.INCOMPLETE(`${missing}: login by OpenID Connect needs it`, { path: missing });
      },
      { strict: true },
    ),
    tap(
      duringAdminSave,
      ({ changes }, tx) =>
        links.adminsDeleted(
          tx,
          changes.flatMap(({ kind, id }) => (kind === 'deleted' ? [id] : [])),
        ),
      { strict: true },
    ),
  ],
  routes,
});
