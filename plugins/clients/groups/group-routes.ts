// Routes of groups.
import {
  int,
  LIST_BODY,
  list,
  once,
  payload,
  route,
  type Route,
  withMessage,
  shape,
  text,
  TimeSlice,
} from '../../../kernel/index.js';
import { describeResult } from '../../engine/contract.js';
import { errors } from '../errors.js';
import type { Groups } from './groups.js';
import { Emails } from '../edits/request-schemas.js';
import { EmailsAndGroup, GroupName, GroupReply, NewGroup, RenameGroup } from './group-schemas.js';

const affected = () => payload(shape({ affected: int() }));

export const groupRoutes = ({ groups }: { groups: Groups }): Route[] => [
  route({
    method: 'GET',
    path: '/panel/api/clients/groups',
    name: 'clients.groups.list',
    doc: 'All groups, with what their clients have used since the last reset of the group.',
    reply: payload(list(GroupReply)),
    handle: async () => {
      await new TimeSlice().next();
      return groups.list();
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/clients/groups/{name}/emails',
    name: 'clients.groups.emails',
    doc: 'Emails of the clients in a group.',
    params: shape({ name: text().example('family') }),
    reply: payload(list(text())),
    handle: async ({ params }) => {
      await new TimeSlice().next();
      return groups.emails(params.name);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/create',
    name: 'clients.groups.create',
    doc: 'Creates a group without clients.',
    body: NewGroup,
    reply: payload(shape({ name: text() })),
    errors: [errors.GROUP_TAKEN],
    handle: async (input) =>
      withMessage(
        'group created',
        await once(input, (note) => groups.create(input.body.name, input.who, note)),
      ),
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/rename',
    name: 'clients.groups.rename',
    doc: 'Renames a group; its clients stay in it.',
    body: RenameGroup,
    reply: affected(),
    errors: [errors.GROUP_NOT_FOUND, errors.GROUP_TAKEN],
    handle: async ({ body, who }) => {
      const { applied, ...result } = await groups.rename(body.oldName, body.newName, who);
      return withMessage(describeResult('group renamed', applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/delete',
    name: 'clients.groups.delete',
    doc: 'Deletes a group; its clients stay, without a group.',
    body: GroupName,
    reply: affected(),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await groups.delete(body.name, who);
      return withMessage(describeResult('group deleted', applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/resetTraffic',
    name: 'clients.groups.resetTraffic',
    doc: 'Starts the traffic of a group at zero again; counters of its clients stay.',
    body: GroupName,
    reply: payload(shape({ name: text() })),
    errors: [errors.GROUP_NOT_FOUND],
    handle: async ({ body, who }) => {
      await groups.resetTraffic(body.name, who);
      return withMessage('traffic of the group reset', { name: body.name });
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/bulkAdd',
    name: 'clients.groups.bulkAdd',
    doc: 'Moves clients into a group; unknown emails are ignored.',
    body: EmailsAndGroup,
    bodyLimit: LIST_BODY,
    reply: affected(),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await groups.add(body.emails, body.group, who);
      return withMessage(describeResult(`${result.affected} clients moved into the group`, applied), result);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/clients/groups/bulkRemove',
    name: 'clients.groups.bulkRemove',
    doc: 'Removes clients from their groups.',
    body: Emails,
    bodyLimit: LIST_BODY,
    reply: affected(),
    handle: async ({ body, who }) => {
      const { applied, ...result } = await groups.remove(body.emails, who);
      return withMessage(
        describeResult(`${result.affected} clients removed from their groups`, applied),
        result,
      );
    },
  }),
];
