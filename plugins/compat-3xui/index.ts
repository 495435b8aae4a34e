import {
  authenticate,
  contribute,
  definePlugin,
  maybe,
  Replays,
  RouteAdapters,
  SessionCookies,
  Sessions,
  singleton,
  stage,
  tap,
} from '../../kernel/index.js';
import { sessionToken } from '../access/contract.js';
import { ArchiveRecords } from '../archive/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { Clients, ProgramUsers } from '../clients/contract.js';
import { Inbounds, LocalInbounds } from '../inbounds/contract.js';
import { CentralRoutes } from '../nodes/contract.js';
import { Adapter } from './adapter.js';
import { BodyHashes } from './body-hashes.js';
import { commands } from './leaving/commands.js';
import { Leaving } from './leaving/leaving.js';
import { LoginTokens } from './login-tokens.js';
import { OLD_COOKIE, OldPrograms } from './old-program.js';

export default definePlugin({
  name: 'compat-3xui',
  version: '0.1.0',
  api: 1,
  about: 'Serves programs that were written for 3x-ui: its names, its cookie, its bodies and replies.',
  uses: {
    sessions: Sessions,
    clients: Clients,
    replays: maybe(Replays),
    inbounds: Inbounds,
    local: LocalInbounds,
    users: ProgramUsers,
    archived: maybe(ArchiveRecords),
    audit: maybe(AuditTrail),
  },
  services: {
    tokens: singleton(LoginTokens),
    programs: singleton(OldPrograms),
    hashes: singleton(BodyHashes),
    adapter: singleton(Adapter),
    leaving: singleton(Leaving),
  },
  commands,
  contributes: ({ adapter }) => [
    contribute(SessionCookies, OLD_COOKIE),
    contribute(RouteAdapters, (routes) => adapter.serve(routes)),
    contribute(CentralRoutes, { method: 'POST', path: '/panel/api/server/restartXrayService' }),
  ],
  taps: ({ tokens, hashes }) => [
    tap(sessionToken, (caller) => tokens.take(caller)),
    tap(
      authenticate,
      ({ request }) => {
        hashes.watch(request);
        return undefined;
      },
      { stage: stage.FIRST },
    ),
  ],
});
