// Geodata of the core: updates, checks of what the config names, and a look inside.
import { contribute, definePlugin, maybe, singleton } from '../../kernel/index.js';
import { AuditTrail } from '../audit/contract.js';
import { Engine, PartChecks } from '../engine/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { LiveTypes } from '../realtime/contract.js';
import { AssetFiles } from './asset-files.js';
import { Browser } from './browse.js';
import { GeodataCheck } from './part-check.js';
import { routes } from './routes.js';
import { geodataSettings } from './settings.js';
import { SourceFetcher } from './source-fetcher.js';
import { SourceRecords } from './source-records.js';
import { Updater } from './updater.js';

export default definePlugin({
  name: 'geodata',
  version: '0.1.0',
  api: 1,
  about: 'Updates the geodata of the core, checks what the config names of it, and shows what is in it.',
  uses: { engine: Engine, outgoing: maybe(Outgoing), audit: maybe(AuditTrail) },
  settings: geodataSettings,
  services: {
    files: singleton(AssetFiles),
    records: singleton(SourceRecords),
    check: singleton(GeodataCheck),
    fetcher: singleton(SourceFetcher),
    updater: singleton(Updater),
    browser: singleton(Browser),
  },
  contributes: ({ fetcher, check, updater }) => [
    contribute(OutgoingHosts, fetcher.access),
    contribute(PartChecks, check),
    contribute(LiveTypes, { type: 'geodata', start: (output) => void (updater.output = output) }),
  ],
  start: ({ files }) => files.removeDrafts(),
  routes,
});
