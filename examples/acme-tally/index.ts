import {
  definePlugin,
  int,
  job,
  list,
  payload,
  route,
  shape,
  singleton,
  tap,
  variable,
  withDefault,
} from '@weir-panel/weir/kernel';
import { clientDepleted } from '@weir-panel/weir/plugins/traffic';
import { fields, migrations, tables } from './tables.js';
import { Tally } from './tally.js';

export default definePlugin({
  name: 'acme-tally',
  version: '0.3.0',
  api: 1,
  about: 'Counts how many clients were depleted on which day.',
  config: {
    keepDays: variable(
      'WEIR_X_ACME_TALLY_KEEP_DAYS',
      withDefault(int().min(1), 90),
      'number of days to keep',
    ),
  },
  tables,
  migrations,
  services: { tally: singleton(Tally) },
  taps: ({ tally }) => [tap(clientDepleted, ({ clients }) => tally.count(clients.length))],
  routes: ({ tally }) => [
    route({
      method: 'GET',
      path: '/panel/api/x/acme-tally/days',
      doc: 'Lists the depleted clients by day, newest first.',
      query: shape({ days: withDefault(int().min(1).max(366), 30) }),
      reply: payload(list(shape(fields.schemas))),
      handle: ({ query }) => tally.last(query.days),
    }),
  ],
  jobs: ({ tally }) => [job('prune', '1d', () => tally.prune())],
});
