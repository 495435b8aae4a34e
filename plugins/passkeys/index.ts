// Passkeys: logins without a password, by WebAuthn.
import { contribute, definePlugin, maybe, Sessions, singleton, tap } from '../../kernel/index.js';
import { duringAdminSave, LoginMethods, OtherLogins } from '../access/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { Challenges } from './challenges.js';
import { passkeyCopied } from './contract.js';
import { Passkeys } from './keys.js';
import { copied } from './notified.js';
import { METHOD, PasskeyLogin } from './passkey-login.js';
import { Registration } from './registration.js';
import { routes } from './routes.js';
import { migrations, sealedSecrets, tables } from './tables.js';

export default definePlugin({
  name: 'passkeys',
  version: '0.1.0',
  api: 1,
  about: 'Logins with a passkey: the lock of the device instead of password and code.',
  uses: { logins: OtherLogins, secrets: Secrets, sessions: Sessions, audit: maybe(AuditTrail) },
  hooks: [passkeyCopied],
  tables,
  migrations,
  services: {
    keys: singleton(Passkeys),
    challenges: singleton(Challenges),
    registration: singleton(Registration),
    login: singleton(PasskeyLogin),
  },
  contributes: ({ keys }) => [
    contribute(SealedColumns, sealedSecrets),
    contribute(NotifiedEvents, copied),
    contribute(LoginMethods, { method: METHOD, label: () => (keys.isAny ? '' : undefined) }),
  ],
  taps: ({ keys }) => [tap(duringAdminSave, ({ changes }, tx) => keys.adminsSaved(changes, tx))],
  routes,
  start: ({ keys }) => keys.start(),
});
