// Bodies and replies about the clients of groups.
import { int, list, oneOf, optional, shape, type Static, text, word } from '../../kernel/index.js';
import { someClientShapes } from '../clients/contract.js';

const group = () => word().max(255).description('one that the role of the caller names');
const { settable, ofNew, fields, links, page, inbounds } = someClientShapes;

/** Its inbounds are those that the clients of the groups have already. */
export const NewGroupClient = shape({
  email: word().max(255),
  group: group(),
  inboundIds: list(int().min(1)).min(1).max(1000).description('of those that clients of the groups have'),
  ...ofNew,
}).example({ email: 'ada', group: 'family', inboundIds: [1], totalGB: 53_687_091_200 });
export type NewGroupClient = Static<typeof NewGroupClient>;

/** Inbounds stay as they are. */
export const GroupClientChanges = shape({
  email: optional(word().max(255)),
  group: optional(group()),
  totalGB: optional(settable.totalGB),
  expiryTime: optional(settable.expiryTime),
  enable: optional(settable.enable),
  comment: optional(settable.comment),
  limitIp: optional(settable.limitIp),
  limitHwid: optional(settable.limitHwid),
  flow: optional(settable.flow),
}).example({ totalGB: 107_374_182_400, comment: 'paid until May' });
export type GroupClientChanges = Static<typeof GroupClientChanges>;

export const Id = shape({ id: int().min(1).example(1) });

const shown = { ...fields, group: text() };
export const GroupClient = shape(shown);
export const GroupClientWithLinks = shape({ ...shown, ...links });
export const GroupClientsPage = shape({ ...page, items: list(GroupClient) });

/** What an admin of groups sees of the own role. */
export const OwnGroups = shape({
  level: oneOf('read', 'write'),
  groups: list(shape({ name: text(), clients: int().min(0) })),
  inbounds: inbounds.description('of the clients of the groups: a new client may have these'),
});
