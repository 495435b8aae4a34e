import { bool, definePlugin, setting, tap, inSection } from '../../kernel/index.js';
import { composeCoreConfig, Engine } from '../engine/contract.js';

export const blockSettings = inSection('Core', {
  blockBitTorrent: setting(
    bool(),
    true,
    'refuse BitTorrent connections of users, where the sniffing of their inbound is enabled',
  ),
});

export default definePlugin({
  name: 'block-bittorrent',
  version: '0.1.0',
  api: 1,
  about: 'Keeps users of the core from BitTorrent, for which the owner of the address is made liable.',
  uses: { engine: Engine },
  settings: blockSettings,
  taps: ({ engine, settings }) => [
    tap(composeCoreConfig, (add) => {
      if (settings.read().blockBitTorrent)
        add({ rule: { type: 'field', protocol: ['bittorrent'], outboundTag: 'blocked' } });
    }),
    settings.changed(async () => {
      await engine.reconcileConfig();
    }),
  ],
});
