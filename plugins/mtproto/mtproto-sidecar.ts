// The sidecar of the protocol mtproto: one mtg-multi for each inbound.
import type { LocalInboundsApi } from '../inbounds/contract.js';
import type { Sidecar } from '../sidecars/contract.js';
import type { EngineRoute } from './engine-route.js';
import { MtgApi } from './mtg-api.js';
import { mtgConfig, nobodySecret } from './mtg-config.js';

const CONFIG = 'mtg.toml';
const HINT =
  'put one of github.com/mhsanaei/mtg-multi there, which changes users while it runs, or one of github.com/dolonet/mtg-multi';

export class MtprotoSidecar implements Sidecar {
  readonly protocol = 'mtproto';
  readonly program: Sidecar['program'];
  readonly #inbounds: LocalInboundsApi;
  readonly #route: EngineRoute;

  constructor(needs: {
    config: { readonly binary?: string | undefined };
    inbounds: LocalInboundsApi;
    route: EngineRoute;
  }) {
    this.program = { name: 'mtg-multi', variable: 'WEIR_MTG_BIN', chosen: needs.config.binary, hint: HINT };
    this.#inbounds = needs.inbounds;
    this.#route = needs.route;
  }

  readonly plan: Sidecar['plan'] = (inbounds) =>
    inbounds.map((inbound) => ({
      name: `in-${inbound.id}`,
      inboundIds: [inbound.id],
      ports: ['api'],
      process: (place, users) => ({
        args: ['run', CONFIG],
        files: [{ name: CONFIG, text: mtgConfig(inbound, place, users, this.#route.proxyFor(inbound)) }],
      }),
    }));

  readonly peek: NonNullable<Sidecar['peek']> = (instance) => MtgApi.read(instance);

  readonly open: Sidecar['open'] = (instance) => {
    const inbound = this.#inbounds.get(instance.inboundIds[0] ?? 0);
    return MtgApi.open(instance, nobodySecret(instance, { settings: inbound?.settings ?? {} }));
  };
}
