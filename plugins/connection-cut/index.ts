import { definePlugin, job, Listeners, maybe, singleton, stage, tap } from '../../kernel/index.js';
import { beforeCoreStop, CoreAccess, coreStateChanged, Engine, usersRemoved } from '../engine/contract.js';
import { afterInboundSave, describeInbounds, Inbounds } from '../inbounds/contract.js';
import { trafficCounted } from '../traffic/contract.js';
import { Cutter } from './cutter.js';
import { Levers } from './levers.js';
import { Parting } from './parting.js';
import { cutSettings } from './settings.js';
import { Sockets } from './sockets.js';

export default definePlugin({
  name: 'connection-cut',
  version: '0.1.0',
  api: 1,
  about: 'Ends the open connections of clients that were switched off or deleted.',
  uses: {
    access: maybe(CoreAccess),
    engine: Engine,
    inbounds: Inbounds,
    listeners: Listeners,
  },
  settings: cutSettings,
  services: {
    sockets: singleton(Sockets),
    cutter: singleton(Cutter),
    levers: singleton(Levers),
    parting: singleton(Parting),
  },
  taps: ({ cutter, levers, parting }) => [
    // Not awaited: the next event may join a pass that has not begun.
    tap(usersRemoved, ({ users }) => {
      void cutter.removed(users);
      void levers.removed(users);
    }),
    // Before the last poll.
    tap(beforeCoreStop, () => parting.endAll(), { stage: stage.EARLY }),
    tap(coreStateChanged, ({ to }) => {
      if (to === 'running') cutter.coreStarted();
    }),
    tap(trafficCounted, ({ usage }) => cutter.counted(usage)),
    tap(afterInboundSave, ({ changes }) => {
      for (const { before, after } of changes)
        cutter.inboundChanged((after ?? before)?.id ?? 0, after !== undefined);
    }),
    tap(describeInbounds, (rows) => rows.map((row) => ({ ...row, openConnections: cutter.describe(row) }))),
  ],
  jobs: ({ cutter, levers }) => [
    job('cut', '5s', () => cutter.tick()),
    job('levers', '5s', () => levers.tick()),
  ],
  start: ({ cutter }) => cutter.start(),
  stop: ({ cutter }) => cutter.stop(),
});
