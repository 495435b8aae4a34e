// All permissions that there are, what each opens, and what a caller has of them.
import type { ListenersApi, Principal, ServedRoute } from '../../kernel/index.js';
import { didYouMean } from '../../kernel/index.js';
import type { CalledRoute, CallerRightsApi, RoleRights } from '../access/contract.js';
import { errors } from './errors.js';
import { holds, isForKind, type Needs, needsOf, writesGroups } from './needs.js';
import { RESOURCES, resourceOf } from './resources.js';
import type { RoleStore } from './role-store.js';
import type { RoleKind } from './tables.js';

export interface NeedsOfCall extends Needs {
  readonly call: string;
  readonly reseller: boolean;
  readonly groups: boolean;
  readonly plugin: string;
}
/** What the level of a role of groups lacks, as its refusal calls it; no role has it as a permission. */
const WRITE = 'group-clients:write';

export class Permissions implements RoleRights {
  readonly #store: RoleStore;
  readonly #listeners: ListenersApi;
  readonly #rights: CallerRightsApi;
  readonly requireKnown: RoleRights['requireKnown'];

  constructor({
    store,
    listeners,
    rights,
  }: { store: RoleStore; listeners: ListenersApi; rights: CallerRightsApi }) {
    this.#store = store;
    this.#listeners = listeners;
    this.#rights = rights;
    this.requireKnown = (tx, role, path) => store.requireKnown(tx, role, path);
  }

  lacks(role: number, called: CalledRoute): string | undefined {
    const known = this.#store.find(role);
    if (known && known.kind !== '') {
      if (!isForKind(known.kind, called)) return '';
      return known.level === 'read' && writesGroups(called) ? WRITE : undefined;
    }
    const { permissions, onlyFull } = needsOf(called);
    if (onlyFull) return '';
    const held = this.#heldBy(role);
    return permissions.find((needed) => !holds(held, needed));
  }

  mayRead(role: number, plugin: string): boolean {
    const resource = resourceOf(plugin);
    return !this.#hasKind(role) && resource !== undefined && holds(this.#heldBy(role), `${resource}:read`);
  }

  nameOf(role: number): string {
    return this.#store.find(role)?.name ?? '';
  }

  #hasKind(role: number): boolean {
    return (this.#store.find(role)?.kind ?? '') !== '';
  }

  #hasOne(roles: readonly number[], kind: RoleKind): boolean {
    return roles.some((role) => this.#store.find(role)?.kind === kind);
  }

  /** A role that is gone has none. */
  #heldBy(role: number): ReadonlySet<string> {
    return this.#store.find(role)?.held ?? new Set();
  }

  /** Resources with what they are about; those of third-party plugins by the plugin. */
  resources(): { name: string; about: string; plugins: string[] }[] {
    const known = Object.entries(RESOURCES).map(([name, { about, plugins }]) => ({
      name,
      about,
      plugins: [...plugins],
    }));
    const names = new Set(known.map(({ name }) => name));
    for (const { plugin, about } of this.#served()) {
      const name = resourceOf(plugin);
      if (name === undefined || names.has(name)) continue;
      names.add(name);
      known.push({ name, about, plugins: [plugin] });
    }
    return known;
  }

  /** What each call needs that asks for a login. */
  calls(): NeedsOfCall[] {
    return this.#served().map(({ plugin, path, route: { method } }) => ({
      call: `${method} ${path}`,
      plugin,
      reseller: isForKind('reseller', { plugin, method, path }),
      groups: isForKind('groups', { plugin, method, path }),
      ...needsOf({ plugin, method, path }),
    }));
  }

  #served(): ServedRoute[] {
    return this.#listeners.routes().filter(({ route }) => route.auth !== 'anyone');
  }

  all(): string[] {
    return this.resources().flatMap(({ name }) => [`${name}:read`, `${name}:write`]);
  }

  /** Throws UNKNOWN_PERMISSION for one that nothing asks for. One that a role has already may stay: its plugin may be off. */
  check(permissions: readonly string[], before: readonly string[] = []): void {
    const known = this.all();
    for (const [at, permission] of permissions.entries())
      if (!known.includes(permission) && !before.includes(permission)) {
        const path = `permissions.${at}`;
        throw errors.UNKNOWN_PERMISSION(
          `permissions[${at}]: there is no permission ${JSON.stringify(permission)}${didYouMean(permission, known)}`,
          { path },
        );
      }
  }

  /** What a caller may do now; `permissions` is empty for a full admin, who needs none. */
  of(who: Principal) {
    const roles = this.#rights.rolesOf(who);
    const held = roles.map((role) => this.#heldBy(role));
    return {
      full: roles.length === 0,
      reseller: this.#hasOne(roles, 'reseller'),
      groups: this.#hasOne(roles, 'groups'),
      roles: roles.map((role) => this.nameOf(role)),
      permissions:
        roles.length === 0
          ? []
          : this.all().filter((one) => held.every((permissions) => holds(permissions, one))),
    };
  }
}
