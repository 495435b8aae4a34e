// What can be done to many clients at once, with the same parameters as the bulk endpoints.
import { optional, shape, type Static, validate } from '../../../kernel/index.js';
import { errors } from '../errors.js';
import { groupName } from '../model/value-schemas.js';
import type { Adjustment } from './adjustment.js';
import { adjustmentFields, deletionFields, InboundIds, inboundIds } from './request-schemas.js';

const group = () => groupName().allow('').description('blank for none');

export const bulkActions = {
  adjust: shape(adjustmentFields),
  enable: shape({}),
  disable: shape({}),
  resetTraffic: shape({}),
  delete: shape(deletionFields),
  attach: InboundIds,
  detach: InboundIds,
  setGroup: shape({ group: group() }),
};
/** The parameters of all actions, for descriptions. */
export const BulkParams = shape({
  ...adjustmentFields,
  ...deletionFields,
  inboundIds: optional(inboundIds()),
  group: optional(group()),
});
export type BulkActionName = keyof typeof bulkActions;
export type BulkAction = {
  [K in BulkActionName]: { readonly name: K; readonly params: Static<(typeof bulkActions)[K]> };
}[BulkActionName];

/** Refuses an adjustment that does nothing; `prefix` stands before the name of the field in the error. */
export function refuseNothing({ addDays, addBytes, flow, limitHwid, adTag }: Adjustment, prefix = ''): void {
  if (addDays === 0 && addBytes === 0 && flow === '' && limitHwid === undefined && adTag === '')
    throw errors.NOTHING_TO_ADJUST(undefined, { path: `${prefix}addDays` });
}

/** Returns the action with its parameters as they are sent in `params`; refuses those that it does not take. */
export function actionOf(name: BulkActionName, params: unknown): BulkAction {
  const schema = shape({ params: bulkActions[name] as (typeof bulkActions)['adjust'] });
  const checked = validate(schema, { params }, { closed: true });
  const action = { name, ...checked } as BulkAction;
  if (action.name === 'adjust')
    refuseNothing({ ...action.params, limitHwid: action.params.limitHwid }, 'params.');
  return action;
}
