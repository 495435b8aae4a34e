import {
  contribute,
  definePlugin,
  everywhere,
  job,
  setting,
  singleton,
  tap,
  text,
  inSection,
} from '../../kernel/index.js';
import { composeCoreConfig, CoreOutbounds, Engine } from '../engine/contract.js';
import { WaysOut } from '../outgoing/contract.js';
import { beforeSettingsSave } from '../settings/contract.js';
import { errors } from './errors.js';
import { WayThroughCore } from './way-through-core.js';
import { WaysByTag } from './ways-by-tag.js';

export const panelOutboundSettings = inSection(
  'Way out of the panel',
  {
    panelOutbound: setting(
      text().max(255),
      '',
      'tag of the outbound through which the panel itself calls other machines; empty for directly',
    ),
  },
  { level: 'advanced' },
);

export default definePlugin({
  name: 'panel-outbound',
  version: '0.1.0',
  api: 1,
  about: 'Sends the calls of the panel itself through an outbound of the core.',
  uses: { engine: Engine, coreOutbounds: CoreOutbounds },
  settings: panelOutboundSettings,
  services: { byTag: singleton(WaysByTag), way: singleton(WayThroughCore) },
  contributes: ({ way }) => [contribute(WaysOut, way)],
  taps: ({ engine, way, settings, coreOutbounds }) => [
    tap(composeCoreConfig, (add) => {
      for (const part of way.parts()) add(part);
    }),
    tap(
      beforeSettingsSave,
      async ({ changes }) => {
        const tag = String(changes['panelOutbound'] ?? '');
        if (tag === '') return;
        const tags = await coreOutbounds.tags();
        if (!tags.has(tag))
          throw errors.NO_OUTBOUND(
            `panelOutbound: there is no outbound ${JSON.stringify(tag)}; there are ${[...tags].slice(0, 20).join(', ')}`,
            { path: 'panelOutbound' },
          );
      },
      { strict: true },
    ),
    settings.changed(async () => {
      await engine.reconcileConfig();
    }),
  ],
  jobs: ({ byTag }) => [everywhere(job('idle-ways', '10m', () => byTag.sweep()))],
  start: ({ way }) => way.start(),
});
