// Several admins. All of this needs a full admin: it gives rights.
import {
  bool,
  int,
  list,
  message,
  once,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { AdminAccounts, AdminView } from './admin-accounts.js';
import { errors } from './errors.js';
import { printableWord } from './printable-word.js';

const PATH = '/panel/api/x/admins';
const role = () => int().min(0).description('id of a role; 0: a full admin');
const password = () => word().min(8).max(1024);
const AdminReply = shape({
  id: int(),
  username: text(),
  role: role(),
  enabled: bool().description('a disabled one cannot log in, and its API tokens are refused'),
  createdAt: int().description('Unix ms'),
  secondFactor: bool().description('whether a login of this admin needs a code as well'),
});
/** The first admin is the one who asks, in a panel that tests call with examples. */
const AdminId = shape({ id: int().min(1).example(2) });

export const adminRoutes = ({ accounts }: { accounts: AdminAccounts }): Route[] => [
  route({
    method: 'GET',
    path: PATH,
    name: 'admins.list',
    doc: 'All admins, by id.',
    reply: payload(list(AdminReply)),
    handle: () => accounts.list(),
  }),
  route({
    method: 'POST',
    path: PATH,
    name: 'admins.add',
    doc: 'Adds an admin, with a role or as a full one.',
    body: shape({
      username: printableWord().trim().max(255),
      password: password(),
      role: optional(role()),
    }).example({ username: 'grace', password: 'correct horse battery', role: 0 }),
    reply: payload(AdminReply),
    errors: [errors.ADMIN_TAKEN, errors.TOO_MANY_ADMINS, errors.NO_ROLES],
    handle: async (input) => {
      const { role = 0, ...admin } = input.body;
      const add = (note?: (facts: AdminView) => void) => accounts.add({ ...admin, role }, input.who, note);
      return withMessage('admin added', await once<AdminView>(input, add));
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{id}`,
    name: 'admins.update',
    doc: 'Changes what is sent of an admin. Another role is in force at once; a new password, and enabled: false, closes the sessions of that admin.',
    params: AdminId,
    body: shape({
      password: optional(password()),
      role: optional(role()),
      enabled: optional(bool()),
    }).example({ password: 'a new and longer one' }),
    reply: payload(AdminReply),
    errors: [errors.ADMIN_NOT_FOUND, errors.LAST_ADMIN, errors.NO_ROLES],
    handle: async ({ params, body, who }) =>
      withMessage('admin saved', await accounts.update(params.id, body, who)),
  }),
  route({
    method: 'POST',
    path: `${PATH}/{id}/del`,
    name: 'admins.delete',
    doc: 'Deletes an admin with its API tokens, and closes its sessions. The last full admin stays.',
    params: AdminId,
    reply: message(),
    errors: [errors.ADMIN_NOT_FOUND, errors.LAST_ADMIN],
    handle: async ({ params, who }) => {
      await accounts.delete(params.id, who);
      return 'admin deleted';
    },
  }),
  route({
    method: 'POST',
    path: `${PATH}/{id}/secondFactor/del`,
    name: 'admins.resetSecondFactor',
    doc: 'Deletes the second factor and the recovery codes of another admin, who has lost the phone, and closes the sessions of that admin. The own one is turned off with a code.',
    params: AdminId,
    reply: message(),
    errors: [errors.ADMIN_NOT_FOUND, errors.NO_SECOND_FACTOR, errors.OWN_FACTOR],
    handle: async ({ params, who }) => {
      await accounts.resetSecondFactor(params.id, who);
      return 'the second factor of this admin is off';
    },
  }),
];
