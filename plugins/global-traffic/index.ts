import {
  contribute,
  definePlugin,
  int,
  job,
  LARGE_BODY,
  list,
  message,
  route,
  shape,
  singleton,
  tap,
  text,
} from '../../kernel/index.js';
import { Clients, duringClientSave, UsageSources } from '../clients/contract.js';
import { PanelIdentity } from '../settings/contract.js';
import { errors } from './errors.js';
import { migrations, tables } from './tables.js';
import { GlobalTotals } from './totals.js';

const Pushed = shape({
  masterGuid: text()
    .max(64)
    .pattern(/^[\w:-]*$/, 'letters, digits, -, _ and :')
    .description('guid of the panel that counted; blank: nothing is stored'),
  traffics: list(
    shape({
      email: text().max(255),
      up: int().min(0).description('bytes'),
      down: int().min(0).description('bytes'),
    }),
  ).max(100_000),
}).example({
  masterGuid: '6f1e4a0c-3a51-4a5e-9a55-3f1f9d6c2b10',
  traffics: [{ email: 'ada@example.org', up: 1_048_576, down: 10_485_760 }],
});

export default definePlugin({
  name: 'global-traffic',
  version: '0.1.0',
  api: 1,
  about: 'Stores and shows what other panels counted for the same clients.',
  uses: { clients: Clients, identity: PanelIdentity },
  tables,
  migrations,
  services: { totals: singleton(GlobalTotals) },
  contributes: ({ totals }) => [contribute(UsageSources, totals)],
  taps: ({ totals }) => [tap(duringClientSave, ({ changes }, tx) => totals.clientsSaved(changes, tx))],
  routes: ({ totals }) => [
    route({
      method: 'POST',
      path: '/panel/api/inbounds/pushClientTraffics',
      name: 'globalTraffic.push',
      doc: 'Takes what another panel counted for clients of the same email, in place of what it pushed before. Unknown emails are skipped. For a day, replies about clients show it where it is more than what was counted here; inbounds/list does not, and no limit acts on it.',
      body: Pushed,
      bodyLimit: LARGE_BODY,
      reply: message(),
      errors: [errors.TOO_MANY_MASTERS],
      handle: async ({ body: { masterGuid, traffics } }) => {
        const count = await totals.push(masterGuid, traffics);
        return `traffic of ${count} clients taken`;
      },
    }),
  ],
  jobs: ({ totals }) => [job('prune', '1h', () => totals.prune())],
});
