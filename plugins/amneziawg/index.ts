// Runs inbounds of AmneziaWG.
import {
  contribute,
  definePlugin,
  int,
  Listeners,
  maybe,
  optional,
  payload,
  route,
  shape,
  singleton,
  tap,
  text,
  variable,
  withDefault,
  word,
} from '../../kernel/index.js';
import { Clients, PresenceSources, ProgramUsers } from '../clients/contract.js';
import { UserReach } from '../engine/contract.js';
import {
  beforeInboundSave,
  Inbounds,
  LocalInbounds,
  prepareInboundSave,
  ProtocolPrograms,
} from '../inbounds/contract.js';
import { PanelLog } from '../panel-logs/contract.js';
import { protocolProgram, RunningSidecars, Sidecars } from '../sidecars/contract.js';
import { Handshakes } from './handshakes.js';
import { PeerReport, Report } from './peer-report.js';
import { SettingsGuard } from './settings-guard.js';
import { AmneziawgSidecar } from './sidecar.js';

const MOST_ROWS = 10_000;

export default definePlugin({
  name: 'amneziawg',
  version: '0.1.0',
  api: 1,
  about: 'Runs inbounds of AmneziaWG with amneziawg-go.',
  config: {
    binary: variable('WEIR_AMNEZIAWG_BIN', optional(word()), 'the program amneziawg-go to use'),
  },
  uses: {
    listeners: Listeners,
    reach: maybe(UserReach),
    inbounds: LocalInbounds,
    allInbounds: Inbounds,
    clients: Clients,
    users: ProgramUsers,
    running: RunningSidecars,
    panelLog: maybe(PanelLog),
  },
  services: {
    handshakes: singleton(Handshakes),
    sidecar: singleton(AmneziawgSidecar),
    guard: singleton(SettingsGuard),
    report: singleton(PeerReport),
  },
  contributes: ({ sidecar, running, handshakes }) => [
    contribute(Sidecars, sidecar),
    contribute(ProtocolPrograms, protocolProgram('amneziawg', running)),
    contribute(PresenceSources, handshakes),
  ],
  taps: ({ guard }) => [
    tap(prepareInboundSave, (items, { before }) =>
      items.map((item) => {
        const settings = guard.completed(item, before);
        return settings === undefined ? item : { ...item, settings };
      }),
    ),
    tap(beforeInboundSave, ({ before, after }) => guard.check(before, after)),
  ],
  routes: ({ report }) => [
    route({
      method: 'POST',
      path: '/panel/api/server/amneziawglogs/{count}',
      name: 'server.amneziawgLogs',
      doc: 'The peers of the inbounds of AmneziaWG, as their programs report them now, and what the log of the panel says about them, newest first.',
      params: shape({ count: int().min(1).max(MOST_ROWS).example(100) }),
      form: true,
      body: optional(
        shape({
          filter: withDefault(text().max(256).allow(''), '').description(
            'shows only peers and lines with this text, in any case',
          ),
        }),
      ).example({ filter: 'ann@example.com' }),
      reply: payload(Report),
      handle: ({ params: { count }, body: { filter = '' } = {} }) => report.take(count, filter),
    }),
  ],
});
