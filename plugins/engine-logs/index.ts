// Shows the core's log of connections to admins, with the emails of clients.
import {
  contribute,
  definePlugin,
  int,
  list,
  maybe,
  optional,
  payload,
  route,
  shape,
} from '../../kernel/index.js';
import { Clients } from '../clients/contract.js';
import { CoreLog } from '../engine/contract.js';
import { LiveLogs } from '../realtime/contract.js';
import { lastEntries } from './last-entries.js';
import { liveLog, tailRoute } from './live-log.js';
import { Entry, MOST_LINES, wantedFields } from './shapes.js';

export default definePlugin({
  name: 'engine-logs',
  version: '0.1.0',
  api: 1,
  about: "Shows the core's log of connections, with the emails of clients.",
  uses: { coreLog: maybe(CoreLog), clients: Clients },
  contributes: ({ coreLog, clients }) => [contribute(LiveLogs, liveLog({ coreLog, clients }))],
  routes: ({ coreLog, clients }) => [
    tailRoute({ coreLog, clients }),
    route({
      method: 'POST',
      path: '/panel/api/server/enginelogs/{count}',
      name: 'server.engineLogs',
      doc: 'The last connections that users opened, oldest first, as far as the last 8 MiB of the log go. The core loses lines in bursts: this is no record of all connections. `Event` is 0 for direct, 1 for blocked, 2 for an outbound that leads elsewhere.',
      params: shape({ count: int().min(1).max(MOST_LINES).example(100) }),
      form: true,
      body: optional(shape(wantedFields)).example({ filter: 'example.com' }),
      reply: payload(list(Entry)),
      handle: ({ params: { count }, body }) => lastEntries({ coreLog, clients }, count, body ?? {}),
    }),
  ],
});
