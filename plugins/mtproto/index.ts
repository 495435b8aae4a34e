import { contribute, definePlugin, optional, singleton, tap, variable, word } from '../../kernel/index.js';
import { composeCoreConfig } from '../engine/contract.js';
import { LocalInbounds, ProtocolPrograms } from '../inbounds/contract.js';
import { protocolProgram, RunningSidecars, Sidecars } from '../sidecars/contract.js';
import { EngineRoute } from './engine-route.js';
import { MtprotoSidecar } from './mtproto-sidecar.js';

export default definePlugin({
  name: 'mtproto',
  version: '0.1.0',
  api: 1,
  about: 'Runs MTProto proxies for Telegram with mtg-multi.',
  config: {
    binary: variable(
      'WEIR_MTG_BIN',
      optional(word()),
      'the mtg-multi that runs inbounds of MTProto, instead of one that is found',
    ),
  },
  uses: { inbounds: LocalInbounds, running: RunningSidecars },
  services: { route: singleton(EngineRoute), sidecar: singleton(MtprotoSidecar) },
  contributes: ({ sidecar, running }) => [
    contribute(Sidecars, sidecar),
    contribute(ProtocolPrograms, protocolProgram('mtproto', running)),
  ],
  start: ({ route }) => route.open(),
  taps: ({ inbounds, route }) => [
    tap(composeCoreConfig, (add) => {
      for (const inbound of inbounds.list())
        if (inbound.protocol === 'mtproto' && inbound.enable) add(...route.partsFor(inbound));
    }),
  ],
});
