// Roles, what there is to permit, and what the caller may do.
import {
  bool,
  int,
  list,
  message,
  once,
  oneOf,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { RoleHoldersApi } from '../access/contract.js';
import { errors } from './errors.js';
import type { Permissions } from './permissions.js';
import type { RoleRow, RoleStore } from './role-store.js';
import { LEVELS, ROLE_KINDS } from './tables.js';

const PATH = '/panel/api/x/roles';
const MOST_PERMISSIONS = 200;
const MOST_GROUPS = 100;

const name = () =>
  word()
    .trim()
    .max(64)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text without control characters');
const permissions = () =>
  list(
    word()
      .pattern(/^[a-z0-9-]{1,64}:(?:read|write)$/, 'a resource, and :read or :write')
      .example('clients:read'),
  )
    .max(MOST_PERMISSIONS)
    .description('as clients:read; to write includes to read');
const groups = () =>
  list(
    word()
      .trim()
      .max(255)
      .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters'),
  )
    .max(MOST_GROUPS)
    .description('names of groups of clients, with their case; of the kind groups only');
const level = () =>
  optional(oneOf(...LEVELS)).description(
    'whether they see these clients or also change them; of the kind groups only',
  );
const RoleReply = shape({
  id: int(),
  name: text(),
  kind: text().description(
    'reseller or groups: only the calls that are made for them, and no permissions; blank for others',
  ),
  permissions: list(text()),
  groups: list(text()).description('of the kind groups: only clients of these groups'),
  level: text().description('of the kind groups: read or write; else blank'),
  admins: int().description('how many admins have it'),
  tokens: int().description('how many API tokens have it'),
  createdAt: int().description('Unix ms'),
});
const UNFIT = [errors.KIND_HAS_NONE, errors.NEEDS_GROUPS, errors.NO_GROUPS];
const RoleId = shape({ id: int().min(1).example(1) });
const sorted = (sent: readonly string[]): string[] => [...new Set(sent)].sort();

export const routes = ({
  store,
  permissions: all,
  holders,
}: {
  store: RoleStore;
  permissions: Permissions;
  holders: RoleHoldersApi;
}): Route[] => {
  const shown = ({ id, clientGroups, createdAt, ...role }: RoleRow) => ({
    id,
    name: role.name,
    kind: role.kind,
    permissions: [...role.permissions],
    groups: [...(clientGroups ?? [])],
    level: role.level,
    ...holders.count(id),
    createdAt,
  });
  return [
    route({
      method: 'GET',
      path: PATH,
      name: 'roles.list',
      doc: 'All roles, by id.',
      reply: payload(list(RoleReply)),
      handle: () => store.list().map(shown),
    }),
    route({
      method: 'GET',
      path: `${PATH}/resources`,
      name: 'roles.resources',
      doc: 'What permissions can be about, and what each call needs that asks for a login.',
      reply: payload(
        shape({
          resources: list(shape({ name: text(), about: text(), plugins: list(text()) })),
          calls: list(
            shape({
              call: text().description('method and path'),
              plugin: text(),
              permissions: list(text()).description('all of them; empty where every role may call it'),
              onlyFull: bool().description('no permission allows it'),
              reseller: bool().description('whether a role of the kind reseller allows it'),
              groups: bool().description('whether a role of the kind groups allows it, with the level write'),
            }),
          ),
        }),
      ),
      handle: () => ({
        resources: all.resources(),
        calls: all.calls().map(({ permissions, ...call }) => ({ ...call, permissions: [...permissions] })),
      }),
    }),
    route({
      method: 'GET',
      path: `${PATH}/me`,
      name: 'roles.me',
      doc: 'Who the caller is, and what it may do. Every caller may ask.',
      reply: payload(
        shape({
          name: text(),
          kind: text().description('session or token'),
          full: bool().description('whether the caller may call everything'),
          reseller: bool().description('whether the caller may call only what is for resellers'),
          groups: bool().description('whether the caller may call only what is for clients of its groups'),
          roles: list(text()).description('of a token its own role and that of its maker'),
          permissions: list(text()).description('those that all of these roles have; empty for a full admin'),
        }),
      ),
      handle: ({ who }) => ({ name: who.name, kind: who.kind, ...all.of(who) }),
    }),
    route({
      method: 'POST',
      path: PATH,
      name: 'roles.add',
      doc: 'Adds a role.',
      body: shape({
        name: name(),
        kind: withDefault(oneOf(...ROLE_KINDS), '').description('cannot be changed later'),
        permissions: withDefault(permissions(), []),
        groups: withDefault(groups(), []),
        level: level(),
      }).example({
        name: 'support',
        permissions: ['clients:write', 'inbounds:read'],
      }),
      reply: payload(RoleReply),
      errors: [errors.NAME_TAKEN, errors.TOO_MANY, errors.UNKNOWN_PERMISSION, ...UNFIT],
      handle: async (input) => {
        const { name, kind, permissions, groups, level } = input.body;
        const fields = {
          ...{ name, kind, permissions: sorted(permissions), clientGroups: sorted(groups) },
          level: level ?? (kind === 'groups' ? 'read' : ''),
        } as const;
        all.check(permissions);
        const added = await once(input, (note) => store.add(fields, input.who, note));
        return withMessage('role added', shown(added));
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}`,
      name: 'roles.update',
      doc: 'Changes what is sent of a role; in force at once for all who have it.',
      params: RoleId,
      body: shape({
        name: optional(name()),
        permissions: optional(permissions()),
        groups: optional(groups()),
        level: level(),
      }).example({ permissions: ['clients:read'] }),
      reply: payload(RoleReply),
      errors: [errors.NOT_FOUND, errors.NAME_TAKEN, errors.UNKNOWN_PERMISSION, ...UNFIT],
      handle: async ({ params: { id }, body, who }) => {
        if (body.permissions) all.check(body.permissions, store.find(id)?.permissions);
        const saved = await store.update(
          id,
          {
            ...(body.name !== undefined && { name: body.name }),
            ...(body.permissions && { permissions: sorted(body.permissions) }),
            ...(body.groups && { clientGroups: sorted(body.groups) }),
            ...(body.level && { level: body.level }),
          },
          who,
        );
        return withMessage('role saved', shown(saved));
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/{id}/del`,
      name: 'roles.delete',
      doc: 'Deletes a role that nobody has.',
      params: RoleId,
      reply: message(),
      errors: [errors.NOT_FOUND, errors.IN_USE],
      handle: async ({ params: { id }, who }) => {
        await store.delete(id, who);
        return 'role deleted';
      },
    }),
  ];
};
