// The admin's template of the core's config: outbounds, rules, balancers, DNS, policy, observatory.
import { contribute, definePlugin, job, maybe, provide, singleton, stage, tap } from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, type KeptChange, undoer, Undoers } from '../audit/contract.js';
import { Clients } from '../clients/contract.js';
import { composeCoreConfig, CoreOutbounds, Engine } from '../engine/contract.js';
import { LocalInbounds } from '../inbounds/contract.js';
import { Settings } from '../settings/contract.js';
import { CoreTemplate, duringTemplateSave, type TemplateChange } from './contract.js';
import { templatePart } from './archive-part.js';
import { coreTemplate } from './recorded.js';
import { routes } from './routes.js';
import { templateSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { TemplateService } from './template-service.js';
import { TemplateStore } from './template-store.js';

export default definePlugin({
  name: 'core-template',
  version: '0.1.0',
  api: 1,
  about: "The admin's part of the core's config: outbounds, rules, balancers, DNS; with a history.",
  uses: {
    engine: Engine,
    configured: maybe(CoreOutbounds),
    clients: maybe(Clients),
    inbounds: maybe(LocalInbounds),
    stored: Settings,
  },
  hooks: [duringTemplateSave],
  settings: templateSettings,
  tables,
  migrations,
  services: { store: singleton(TemplateStore), service: singleton(TemplateService) },
  provides: ({ service }) => [provide(CoreTemplate, service)],
  contributes: ({ store, service }) => [
    contribute(ArchiveParts, templatePart({ store, service })),
    contribute(AuditedHooks, coreTemplate),
    contribute(
      Undoers,
      undoer<TemplateChange>({
        area: coreTemplate.area,
        // Each template has an id of its own: what is in force has been saved since, or it has not.
        keep: (changes) =>
          changes.map(
            ({ before, after }): KeptChange => ({
              kind: 'updated',
              id: 'template',
              name: 'engineSetting',
              before: { id: before.id, template: before.template },
              after: { id: after.id },
            }),
          ),
        now: () => ({ id: store.current.id }),
        undo: ([change], who) => {
          const { before } = change as KeptChange;
          const { id, template } = before as unknown as TemplateChange['before'];
          return service.save({ template, note: `template ${id} again` }, who);
        },
      }),
    ),
  ],
  taps: ({ store }) => [
    // Behind other plugins: their rules are narrower than an admin's.
    tap(composeCoreConfig, (add) => add(...store.parts.parts.map(({ part }) => part)), {
      stage: stage.LATE,
    }),
  ],
  jobs: ({ service }) => [job('settle', '10s', () => service.settle())],
  routes,
});
