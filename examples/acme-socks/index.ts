import { contribute, definePlugin, singleton } from '@weir-panel/weir/kernel';
import { ProtocolPrograms, Protocols } from '@weir-panel/weir/plugins/inbounds';
import { protocolProgram, RunningSidecars, Sidecars } from '@weir-panel/weir/plugins/sidecars';
import { Renderers } from '@weir-panel/weir/plugins/subscription';
import { link, protocol } from './protocol.js';
import { SocksSidecar } from './sidecar.js';

export default definePlugin({
  name: 'acme-socks',
  version: '1.0.0',
  api: 1,
  about: 'SOCKS inbounds, run by a program beside the core.',
  uses: { running: RunningSidecars },
  services: { sidecar: singleton(SocksSidecar) },
  contributes: ({ sidecar, running }) => [
    contribute(Protocols, protocol),
    contribute(Renderers, link),
    contribute(Sidecars, sidecar),
    contribute(ProtocolPrograms, protocolProgram('acme-socks', running)),
  ],
});
