// The template of the core's config in archives.
import { type ArchivePart, IS_HERE, takeEach } from '../archive/contract.js';
import type { JsonObject } from '../engine/contract.js';
import { errors } from './errors.js';
import type { TemplateService } from './template-service.js';
import { type TemplateStore, textOf } from './template-store.js';

export const templatePart = ({
  store,
  service,
}: {
  store: TemplateStore;
  service: TemplateService;
}): ArchivePart => ({
  kind: 'core-template',
  version: 1,
  about: "the admin's part of the core's config: outbounds with their keys, rules, balancers, DNS",
  async *export() {
    // The default of a new panel is that of its release.
    yield store.current.id === 0 ? [] : [{ template: service.read() }];
  },
  import: (portions, run) =>
    takeEach(portions, run, {
      nameOf: () => 'the template',
      take: async ({ template }) => {
        if (typeof template !== 'object' || template === null || Array.isArray(template))
          return 'it is not an object';
        const sent = template as JsonObject;
        if (textOf(sent) === store.current.body) return IS_HERE;
        if (store.current.id !== 0)
          return 'this panel has a template of its own, which stays; engine/update takes the one of the archive';
        const { issues } = await service.preview(sent);
        if (issues.length > 0) throw errors.INVALID(issues[0]?.message ?? '', { issues });
        if (run.apply) {
          const said = await service.save({ template: sent, note: 'from an archive' }, run.who);
          if (said !== 'the template is saved and in force') run.note('the template', said);
        }
        return undefined;
      },
    }),
});
