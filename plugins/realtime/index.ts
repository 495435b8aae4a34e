import {
  definePlugin,
  contribute,
  everywhere,
  job,
  maybe,
  message,
  optional,
  route,
  singleton,
  tap,
  Upgrades,
  variable,
} from '../../kernel/index.js';
import { CallerRights } from '../access/contract.js';
import { alarmChanged } from '../alarms/contract.js';
import { afterClientSave, ClientTraffic, Clients } from '../clients/contract.js';
import { Panels } from '../cluster/contract.js';
import { CoreShown, coreStateChanged, Engine } from '../engine/contract.js';
import { afterInboundSave, Inbounds } from '../inbounds/contract.js';
import { ServerStatus } from '../server-status/contract.js';
import { afterSettingsSave, PanelIdentity } from '../settings/contract.js';
import {
  clientDepleted,
  clientRenewed,
  clientTrafficReset,
  Presence,
  trafficCounted,
} from '../traffic/contract.js';
import { movedStats } from './client-stats.js';
import { Connections } from './connections.js';
import { LiveTypes } from './contract.js';
import { alarmNotice } from './core-notice.js';
import { CoreWatch } from './core-watch.js';
import { errors } from './errors.js';
import { Invalidations } from './invalidations.js';
import { addLiveTypes } from './live-types.js';
import { LogWatches } from './log-watches.js';
import { OutboundBytesTaken } from './outbound-bytes.js';
import { WebSocketEndpoint } from './websocket-endpoint.js';
import { SocketIoEndpoint } from './socket-io-endpoint.js';
import { ReaderMessages } from './reader-messages.js';
import { redisUrl } from './redis-url.js';
import { Relay } from './relay.js';
import { Rights } from './rights.js';
import { Stream } from './stream.js';
import { trafficMessage } from './traffic-message.js';

export default definePlugin({
  name: 'realtime',
  version: '0.1.0',
  api: 1,
  about: 'Sends live updates to browsers over a WebSocket or socket.io.',
  config: {
    redis: variable(
      'WEIR_REDIS',
      optional(redisUrl),
      'Redis or Valkey that panels on one database share, as redis://user:password@host:port: live messages reach the sockets of all of them',
    ),
  },
  uses: {
    identity: PanelIdentity,
    panels: maybe(Panels),
    shownCore: maybe(CoreShown),
    engine: Engine,
    clients: Clients,
    inbounds: Inbounds,
    presence: Presence,
    records: ClientTraffic,
    status: maybe(ServerStatus),
    rights: maybe(CallerRights),
  },
  services: {
    stream: singleton(Stream),
    relay: singleton(Relay),
    core: singleton(CoreWatch),
    invalidations: singleton(Invalidations),
    outboundBytes: singleton(OutboundBytesTaken),
    connections: singleton(Connections),
    readerRights: singleton(Rights),
    watches: singleton(LogWatches),
    messages: singleton(ReaderMessages),
    plain: singleton(WebSocketEndpoint),
    socketIo: singleton(SocketIoEndpoint),
  },
  contributes: ({ plain, socketIo }) => [
    contribute(Upgrades, plain.upgrade),
    contribute(Upgrades, socketIo.upgrade),
  ],
  taps: ({ stream, invalidations, core, outboundBytes, ...needs }) => [
    tap(trafficCounted, ({ at, usage }) => {
      const outbounds = outboundBytes.take();
      stream.send('traffic', () => trafficMessage(needs, at, usage, outbounds));
      if (usage.length > 0) stream.send('client_stats', () => movedStats(needs, usage));
    }),
    tap(coreStateChanged, ({ to, reason }) => core.changed(to, reason)),
    tap(alarmChanged, ({ alarm }) => stream.sendEvent('notification', alarmNotice(alarm))),
    tap(clientDepleted, () => invalidations.addOurs('clients')),
    tap(clientRenewed, () => invalidations.addOurs('clients')),
    tap(clientTrafficReset, () => invalidations.addOurs('clients')),
    tap(afterClientSave, () => invalidations.add('clients')),
    tap(afterInboundSave, () => invalidations.add('inbounds')),
    tap(afterSettingsSave, () => invalidations.add('settings')),
  ],
  routes: () => [
    route({
      method: 'GET',
      path: '/ws',
      name: 'realtime.stream',
      auth: 'session',
      doc: 'The live stream, a WebSocket: JSON messages with `type`. It accepts the session cookie only.',
      reply: message(),
      errors: [errors.UPGRADE_REQUIRED],
      handle: () => {
        throw errors.UPGRADE_REQUIRED(undefined, {
          headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
        });
      },
    }),
  ],
  jobs: ({ stream, core, invalidations, plain, connections, relay, watches }) => [
    everywhere(
      job('status', '2s', () => {
        core.look();
        return stream.sendSnapshot('status');
      }),
    ),
    everywhere(job('invalidations', '250ms', () => invalidations.flush())),
    everywhere(job('logs', '250ms', () => watches.round())),
    everywhere(job('ping', '30s', () => plain.ping())),
    everywhere(
      job('idle connections', '5s', () => {
        connections.cutIdle();
        stream.cutStuck();
        relay.want();
      }),
    ),
  ],
  start: (scope) => {
    addLiveTypes(scope, scope.contributions(LiveTypes));
    scope.relay.start();
  },
  stop: ({ relay }) => relay.stop(),
});
