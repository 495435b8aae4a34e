import { definePlugin, singleton, tap } from '../../kernel/index.js';
import { CoreGuard } from '../core-guard/contract.js';
import { Engine } from '../engine/contract.js';
import {
  coreSettings,
  describeInbounds,
  duringInboundSave,
  InboundEdits,
  Inbounds,
} from '../inbounds/contract.js';
import { routes } from './routes.js';
import { FallbackService } from './service.js';
import { FallbackStore } from './store.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'fallbacks',
  version: '0.1.0',
  api: 1,
  about: 'Sends connections of a foreign protocol on to other inbounds or servers.',
  uses: { engine: Engine, inbounds: Inbounds, edits: InboundEdits, guard: CoreGuard },
  tables,
  migrations,
  services: { store: singleton(FallbackStore), service: singleton(FallbackService) },
  taps: ({ store, service }) => [
    tap(duringInboundSave, ({ changes }, tx) => {
      const deleted = changes.flatMap(({ kind, before }) =>
        kind === 'deleted' && before ? [before.id] : [],
      );
      if (deleted.length > 0) store.inboundsDeleted(tx, deleted);
    }),
    tap(coreSettings, (settings, { inbound }) => service.settingsOf(settings, inbound)),
    tap(describeInbounds, (rows) => {
      const parents = store.parents();
      return rows.map((row) => ({ ...row, fallbackParent: parents.get(row.id) ?? null }));
    }),
  ],
  routes,
});
