import {
  definePlugin,
  everywhere,
  job,
  Listeners,
  maybe,
  provide,
  singleton,
  stage,
  tap,
} from '../../kernel/index.js';
import { beforeCoreStop, CoreAccess, coreStateChanged, Engine, usersRemoved } from '../engine/contract.js';
import { afterInboundSave, describeInbounds, LocalInbounds } from '../inbounds/contract.js';
import { trafficCounted } from '../traffic/contract.js';
import { OpenConnections as OpenConnectionsToken } from './contract.js';
import { Cutter } from './cutter.js';
import { DisruptiveFallbacks } from './disruptive-fallbacks.js';
import { CloseOnStop } from './close-on-stop.js';
import { OpenConnections } from './open-connections.js';
import { cutSettings } from './settings.js';
import { Sockets } from './sockets.js';

/** Of an inbound that a node runs. */
const ELSEWHERE = {
  end: false,
  reason: 'another machine runs it, which closes them itself',
  ended: 0,
  missed: 0,
};

export default definePlugin({
  name: 'connection-cut',
  version: '0.1.0',
  api: 1,
  about: 'Closes the open connections of clients that were disabled or deleted.',
  uses: {
    access: maybe(CoreAccess),
    engine: Engine,
    inbounds: LocalInbounds,
    listeners: Listeners,
  },
  settings: cutSettings,
  services: {
    sockets: singleton(Sockets),
    cutter: singleton(Cutter),
    fallbacks: singleton(DisruptiveFallbacks),
    closeOnStop: singleton(CloseOnStop),
    open: singleton(OpenConnections),
  },
  provides: ({ open }) => [provide(OpenConnectionsToken, open)],
  taps: ({ inbounds, cutter, fallbacks, closeOnStop }) => [
    // Not awaited: the next event may join a pass that has not begun.
    tap(usersRemoved, ({ users }) => {
      void cutter.removed(users);
      void fallbacks.removed(users);
    }),
    // Before the last poll.
    tap(beforeCoreStop, () => closeOnStop.closeAll(), { stage: stage.EARLY }),
    tap(coreStateChanged, ({ to }) => {
      if (to === 'running') cutter.coreStarted();
    }),
    tap(trafficCounted, ({ usage }) => cutter.counted(usage)),
    tap(afterInboundSave, ({ changes }) => {
      for (const { before, after } of changes)
        cutter.inboundChanged((after ?? before)?.id ?? 0, after !== undefined);
    }),
    tap(describeInbounds, (rows) =>
      rows.map((row) => ({
        ...row,
        openConnections: inbounds.get(row.id) ? cutter.describe(row) : ELSEWHERE,
      })),
    ),
  ],
  jobs: ({ cutter, fallbacks }) => [
    everywhere(job('cut', '5s', () => cutter.tick())),
    everywhere(job('disruptive-fallbacks', '5s', () => fallbacks.tick())),
  ],
  start: ({ cutter }) => cutter.start(),
  stop: ({ cutter }) => cutter.stop(),
});
