// What a role is to this plugin: who has it, and whom to ask what it allows. Part of contract.ts.
import { extensionPoint, type Principal, type Route, token, type Tx } from '../../kernel/index.js';

/** A route, or a WebSocket as a GET of its path. */
export interface CalledRoute extends Pick<Route, 'method'> {
  readonly plugin: string;
  readonly path: string;
}
/** Knows the roles. Without it, admins and API tokens with a role may call nothing that asks for a login. */
export interface RoleRights {
  /** The permission that a role lacks for a call, as `inbounds:write`; blank if only a full admin may; undefined if the role may. Asked for each call. */
  lacks(role: number, call: CalledRoute): string | undefined;
  /** Whether a role may read what this plugin serves. */
  mayRead(role: number, plugin: string): boolean;
  /** The name of a role, for messages; blank if it is unknown. */
  nameOf(role: number): string;
  /** Throws a 400 with this path unless there is such a role. Called inside the write that gives it to somebody. */
  requireKnown(tx: Tx, role: number, path: string): Promise<void>;
}
/** One entry, of a built-in plugin: a third-party plugin cannot widen what a role allows. */
export const RoleRights = extensionPoint<RoleRights>(
  'access',
  'RoleRights',
  ({ lacks, mayRead, nameOf, requireKnown }, { outside }, others) => {
    if (outside || others.length > 0) return 'roles are known by one built-in plugin';
    return [lacks, mayRead, nameOf, requireKnown].every((part) => typeof part === 'function')
      ? undefined
      : 'it needs the functions lacks, mayRead, nameOf and requireKnown';
  },
);

/** What a caller may do, for plugins that send something without a route of their own. */
export interface CallerRightsApi {
  /** Whether the caller has a role. One without may do everything. */
  isLimited(who: Principal): boolean;
  /** Whether the caller may read what this plugin serves, now. */
  mayRead(who: Principal, plugin: string): boolean;
  /** The roles that a caller has; each must allow a call. Empty for a full admin, and for callers of other kinds. Throws a 401 for one that is gone. */
  rolesOf(who: Principal): readonly number[];
  /** The id of the admin who calls, or whose API token does; 0 where that is nobody. Ids are never given again. */
  adminOf(who: Principal): number;
}
export const CallerRights = token<CallerRightsApi>('access', 'CallerRights');

/** An admin, for plugins that keep something about single ones. */
export interface AdminWithId {
  readonly id: number;
  readonly username: string;
  /** 0: a full admin */
  readonly role: number;
  readonly enabled: boolean;
}
export interface AdminListApi {
  byId(id: number): AdminWithId | undefined;
}
export const AdminList = token<AdminListApi>('access', 'AdminList');

/** Who has a role, for the plugin that knows the roles. */
export interface RoleHoldersApi {
  /** Numbers of admins and API tokens that have it. */
  count(role: number): { readonly admins: number; readonly tokens: number };
  /** Whether somebody has it, also by a write that is not in memory yet. */
  isHeld(tx: Tx, role: number): Promise<boolean>;
  /** Call it after a role has changed: live connections that it no longer allows are closed. */
  changed(): void;
}
export const RoleHolders = token<RoleHoldersApi>('access', 'RoleHolders');
