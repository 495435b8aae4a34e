import {
  anything,
  bool,
  custom,
  describedAs,
  int,
  jsonRecord,
  list,
  message,
  openObject,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  TimeSlice,
  word,
} from '../../kernel/index.js';
import Joi from 'joi';
import { version } from '../record-versions/contract.js';
import type { ClientsApi } from '../clients/contract.js';
import {
  coreChangeFields,
  type CoreOutboundsApi,
  type JsonObject,
  OWN_OUTBOUNDS,
} from '../engine/contract.js';
import type { LocalInboundsApi } from '../inbounds/contract.js';
import type { SettingsApi } from '../settings/contract.js';
import { comparison } from './comparison.js';
import { DEFAULT_TEMPLATE } from './default-template.js';
import { errors } from './errors.js';
import { FIELD, readTemplate } from './read-template.js';
import { templateSettings } from './settings.js';
import type { TemplateService } from './template-service.js';
import { type StoredTemplate, type TemplateStore, templateVersion } from './template-store.js';

interface Needs {
  readonly store: TemplateStore;
  readonly service: TemplateService;
  readonly configured: CoreOutboundsApi | undefined;
  readonly clients: ClientsApi | undefined;
  readonly inbounds: LocalInboundsApi | undefined;
  readonly stored: SettingsApi;
  readonly settings: { read(): { readonly outboundTestUrl: string } };
}

const HISTORY = '/panel/api/x/core-template';
const TemplateText = () =>
  describedAs(
    custom<string | JsonObject>(Joi.alternatives(text().max(1_000_000), jsonRecord<JsonObject>())),
    {
      anyOf: [{ type: 'string' }, { type: 'object' }],
      description: 'the config of the core, as JSON text or as an object; inbounds belong to the panel',
    },
  );
const EXAMPLE = { [FIELD]: DEFAULT_TEMPLATE };

const entryFields = {
  id: int(),
  savedAt: int().description('Unix ms'),
  author: text(),
  authorKind: text(),
  note: text(),
  inForce: bool(),
  proved: bool().description('whether a core has run with it'),
  characters: int(),
} as const;
const Entry = shape(entryFields);
const entryOf = (template: StoredTemplate, current: StoredTemplate) => {
  const { id, savedAt, author, authorKind, note, proved, body } = template;
  return {
    id,
    savedAt,
    author,
    authorKind,
    note,
    proved,
    inForce: id === current.id,
    characters: body.length,
  };
};
const Id = shape({ id: int().min(0).description('0: the default of a new panel').example(0) });

async function reverseTags(clients: ClientsApi | undefined): Promise<string[]> {
  const tags = new Set<string>();
  const slice = new TimeSlice();
  for (const { reverse } of clients ? [...clients.all()] : []) {
    if (slice.isOver) await slice.next();
    const tag = reverse?.['tag'];
    if (typeof tag === 'string' && tag !== '') tags.add(tag);
  }
  return [...tags].sort();
}

/** Tags of outbounds that are not the template's, such as those of lists. */
async function otherTags({ configured, store }: Pick<Needs, 'configured' | 'store'>): Promise<string[]> {
  const own = new Set([
    ...OWN_OUTBOUNDS,
    ...store.parts.parts.flatMap(({ part }) => ('outbound' in part ? [String(part.outbound['tag'])] : [])),
  ]);
  return [...((await configured?.tags()) ?? [])].filter((tag) => !own.has(tag));
}

export const routes = (needs: Needs): Route[] => {
  const { store, service, clients, inbounds, stored, settings } = needs;
  /** What an admin edits. */
  const own = () => ({
    engineSetting: store.current.body,
    outboundTestUrl: settings.read().outboundTestUrl,
    version: templateVersion.of(store.current),
  });
  const defaultTemplate = (path: string, name: string): Route =>
    route({
      method: 'GET',
      path,
      name,
      doc: 'The template of a new panel.',
      reply: payload(openObject()),
      handle: () => ({ ...DEFAULT_TEMPLATE }),
    });
  return [
    route({
      method: 'POST',
      path: '/panel/api/engine/',
      name: 'engine.template',
      doc: "The admin's part of the core's config, and what its rules may name.",
      reply: payload(
        shape({
          engineSetting: text().description('JSON text, indented'),
          inboundTags: text().description('JSON text of a list: tags of all inbounds of this machine'),
          clientReverseTags: text().description(
            'JSON text of a list: tags of the reverse proxies of clients',
          ),
          outboundTestUrl: text(),
          version: version(),
          subscriptionOutboundTags: text().description(
            'JSON text of a list: tags of outbounds that lists and other plugins add',
          ),
        }),
      ),
      handle: async () => ({
        ...own(),
        inboundTags: JSON.stringify((inbounds?.list() ?? []).map(({ tag }) => tag)),
        clientReverseTags: JSON.stringify(await reverseTags(clients)),
        subscriptionOutboundTags: JSON.stringify(await otherTags(needs)),
      }),
    }),
    templateVersion.guarded(
      route({
        method: 'POST',
        path: '/panel/api/engine/update',
        name: 'engine.update',
        form: true,
        doc: 'Saves the template. The core tests it first, with sentences that name the place in the JSON; nothing is saved when it cannot run. Outbounds, rules and balancers change while the core runs; other parts restart it (see `engine/plan`). If the core does not run with the template, the previous one comes back.',
        body: shape({
          engineSetting: TemplateText(),
          outboundTestUrl: optional(templateSettings.outboundTestUrl.schema),
        }).example(EXAMPLE),
        reply: message(),
        errors: [errors.INVALID, errors.NOT_TESTED, errors.ROLLED_BACK],
        handle: async ({ body, who }) => {
          const template = readTemplate(body.engineSetting);
          const { outboundTestUrl } = body;
          const also =
            outboundTestUrl === undefined
              ? {}
              : {
                  also: (tx: Parameters<SettingsApi['change']>[0]) =>
                    stored.change(tx, templateSettings, { outboundTestUrl }, who),
                };
          return service.save({ template, note: '', ...also }, who);
        },
      }),
      own,
    ),
    route({
      method: 'POST',
      path: '/panel/api/engine/plan',
      name: 'engine.planOf',
      doc: 'Says what a template would do, before it is saved: nothing, a change while the core runs, or a restart, and which connections that costs. Changes nothing.',
      body: shape({ engineSetting: TemplateText() }).example(EXAMPLE),
      reply: payload(
        shape({
          ...coreChangeFields,
          tested: bool().description('false when there is no core to ask'),
          issues: list(shape({ path: text(), message: text() })).description('why it cannot run'),
          notes: list(text()).description('what of it has no effect'),
        }),
      ),
      errors: [errors.NOT_TESTED],
      handle: ({ body }) => service.preview(readTemplate(body.engineSetting)),
    }),
    defaultTemplate('/panel/api/engine/getDefaultJsonConfig', 'engine.defaultTemplate'),
    defaultTemplate('/panel/api/setting/getDefaultJsonConfig', 'settings.defaultTemplate'),
    route({
      method: 'GET',
      path: `${HISTORY}/history`,
      name: 'coreTemplate.history',
      doc: 'The last ten templates, the one in force first.',
      reply: payload(list(Entry)),
      handle: async () => (await store.list()).map((template) => entryOf(template, store.current)),
    }),
    route({
      method: 'GET',
      path: `${HISTORY}/history/{id}`,
      name: 'coreTemplate.get',
      doc: 'One template of the history.',
      params: Id,
      reply: payload(shape({ ...entryFields, engineSetting: text().description('JSON text, indented') })),
      errors: [errors.NOT_FOUND],
      handle: async ({ params: { id } }) => {
        const template = await store.find(id);
        return { ...entryOf(template, store.current), engineSetting: template.body };
      },
    }),
    route({
      method: 'GET',
      path: `${HISTORY}/compare`,
      name: 'coreTemplate.compare',
      doc: 'What must change in one template to make another one of it.',
      query: shape({
        from: int().min(0).example(0),
        to: optional(int().min(0)).description('without it, the template in force'),
      }),
      reply: payload(
        list(
          shape({
            op: word(),
            path: text().description('JSON Pointer (RFC 6901)'),
            from: optional(text()),
            value: optional(anything()),
          }),
        ).description('a JSON Patch (RFC 6902)'),
      ),
      errors: [errors.NOT_FOUND],
      handle: async ({ query: { from, to } }) => {
        const [before, after] = [
          await store.find(from),
          to === undefined ? store.current : await store.find(to),
        ];
        return comparison(JSON.parse(before.body) as JsonObject, JSON.parse(after.body) as JsonObject);
      },
    }),
    templateVersion.guarded(
      route({
        method: 'POST',
        path: `${HISTORY}/restore/{id}`,
        name: 'coreTemplate.restore',
        doc: 'Saves a template of the history again, with all checks.',
        params: Id,
        reply: message(),
        errors: [errors.NOT_FOUND, errors.INVALID, errors.NOT_TESTED, errors.ROLLED_BACK],
        handle: async ({ params: { id }, who }) => {
          const { body } = await store.find(id);
          const template = JSON.parse(body) as JsonObject;
          return service.save({ template, note: `template ${id} again` }, who);
        },
      }),
      own,
    ),
  ];
};
