import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { AccountTypes } from '@weir-panel/weir/plugins/engine';
import { Protocols } from '@weir-panel/weir/plugins/inbounds';
import { Renderers } from '@weir-panel/weir/plugins/subscription';
import { accounts, link, socks } from './socks.js';

export default definePlugin({
  name: 'socks-inbound',
  version: '1.0.0',
  api: 1,
  about: 'Inbounds that speak SOCKS 5, with an account for each client.',
  contributes: () => [
    contribute(AccountTypes, accounts),
    contribute(Protocols, socks),
    contribute(Renderers, link),
  ],
});
