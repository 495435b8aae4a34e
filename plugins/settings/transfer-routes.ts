import {
  anything,
  bool,
  hostOfHeader,
  int,
  list,
  oneOf,
  openObject,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  withMessage,
} from '../../kernel/index.js';
import { errors } from './errors.js';
import { type Imported, KIND, type SettingsTransfer } from './transfer.js';

const API = '/panel/api/x/settings';
const LeftOut = list(shape({ name: text(), reason: text() }));

function described({ applied, changes, leftOut }: Imported): string {
  const many = changes.length === 1 ? '1 setting' : `${changes.length} settings`;
  const later = changes.flatMap(({ name, from }) => (from === 'now' ? [] : [name]));
  return [
    changes.length === 0 ? 'nothing would change' : `${many} ${applied ? 'changed' : 'would change'}`,
    ...(later.length > 0 ? [`${later.join(', ')}: from the next start of the panel on`] : []),
    ...(leftOut.length > 0 ? [`left out: ${leftOut.length}`] : []),
  ].join('; ');
}

export const transferRoutes = (transfer: SettingsTransfer): Route[] => [
  route({
    method: 'GET',
    path: `${API}/export`,
    name: 'settings.export',
    doc: 'All settings in force, for another panel. Secrets are left out and named.',
    reply: payload(
      shape({
        kind: text().description('what an import recognises'),
        settings: openObject().description('values by name'),
        leftOut: LeftOut,
      }),
    ),
    handle: () => transfer.export(),
  }),
  route({
    method: 'POST',
    path: `${API}/import`,
    name: 'settings.import',
    doc: 'Shows what the settings of an export would change here, after all checks of setting/update; with `apply`, changes them: all or none. What this panel does not have, what its environment sets, and secrets are left out and named.',
    body: shape({
      kind: optional(oneOf(KIND)),
      settings: openObject().required().description('as in the export'),
      leftOut: optional(list(anything())).description('of an export; not read'),
      apply: withDefault(bool(), false).description('false: the plan only'),
    }).example({ settings: { pageSize: 50 }, apply: true }),
    reply: payload(
      shape({
        applied: bool(),
        changes: list(
          shape({
            name: text(),
            before: anything(),
            after: anything(),
            from: text().description('now, or next start: after a restart of the panel'),
          }),
        ),
        unchanged: int().min(0).description('settings that have this value already'),
        leftOut: LeftOut,
      }),
    ),
    errors: [errors.OWN_HOST, errors.PORT_TAKEN],
    handle: async ({ body, who, ip, host, headers }) => {
      const caller = { ...who, ip, hosts: [host, hostOfHeader(headers.host ?? '')] };
      const imported = await transfer.import(body.settings, body.apply, caller);
      return withMessage(described(imported), imported);
    },
  }),
];
