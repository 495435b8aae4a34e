// Shows the core's log of connections to admins, with the emails of clients.
import {
  definePlugin,
  int,
  list,
  maybe,
  optional,
  payload,
  route,
  shape,
  text,
  withDefault,
  bool,
} from '../../kernel/index.js';
import { Clients } from '../clients/contract.js';
import { CoreLog } from '../engine/contract.js';
import { lastEntries } from './last-entries.js';

const MOST_LINES = 10_000;

export default definePlugin({
  name: 'engine-logs',
  version: '0.1.0',
  api: 1,
  about: "Shows the core's log of connections, with the emails of clients.",
  uses: { coreLog: maybe(CoreLog), clients: Clients },
  routes: ({ coreLog, clients }) => [
    route({
      method: 'POST',
      path: '/panel/api/server/enginelogs/{count}',
      name: 'server.engineLogs',
      doc: 'The last connections that users opened, oldest first, as far as the last 8 MiB of the log go. The core loses lines in bursts: this is no record of all connections. `Event` is 0 for direct, 1 for blocked, 2 for an outbound that leads elsewhere.',
      params: shape({ count: int().min(1).max(MOST_LINES).example(100) }),
      form: true,
      body: optional(
        shape({
          filter: withDefault(text().max(256).allow(''), '').description(
            'shows only entries with this text in a field, in any case',
          ),
          showDirect: withDefault(bool(), true),
          showBlocked: withDefault(bool(), true),
          showProxy: withDefault(bool(), true),
        }),
      ).example({ filter: 'example.com' }),
      reply: payload(
        list(
          shape({
            DateTime: text().description('ISO 8601, to the second'),
            FromAddress: text(),
            ToAddress: text(),
            Inbound: text(),
            Outbound: text(),
            Email: text(),
            Event: int(),
          }),
        ),
      ),
      handle: ({ params: { count }, body }) => lastEntries({ coreLog, clients }, count, body ?? {}),
    }),
  ],
});
