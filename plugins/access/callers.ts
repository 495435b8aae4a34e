// Whom a request comes from, and what that caller may do: asked for each call, so a change is in force at once.
import { kernelErrors, type Permit, type Permits, type Principal, type Route } from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { CallerRightsApi } from './contract.js';
import { errors } from './errors.js';
import type { KnownAdmin } from './known-admin.js';
import type { KnownRoles } from './known-roles.js';
import type { TokenRow } from './token-row.js';
import type { Tokens } from './tokens.js';

const FULL: readonly number[] = [];

export class Callers implements Permits, CallerRightsApi {
  readonly #admins: Admins;
  readonly #tokens: Tokens;
  readonly #roles: KnownRoles;
  #listener: () => void = () => undefined;

  constructor({ admins, tokens, roles }: { admins: Admins; tokens: Tokens; roles: KnownRoles }) {
    this.#admins = admins;
    this.#tokens = tokens;
    this.#roles = roles;
  }

  of(plugin: string, { method, path }: Pick<Route, 'method' | 'path'>): Permit {
    return (who) => {
      for (const role of this.rolesOf(who)) {
        const called = { plugin, method, path: typeof path === 'function' ? path() : path };
        const lacking = this.#roles.lacks(role, called);
        if (lacking !== undefined) throw this.#refusal(role, lacking, `${method} ${called.path}`);
      }
    };
  }

  onChange(changed: () => void): void {
    this.#listener = changed;
  }

  /** Call it after a write that may have taken rights away. */
  changed(): void {
    this.#listener();
  }

  isLimited(who: Principal): boolean {
    return this.rolesOf(who).length > 0;
  }

  mayRead(who: Principal, plugin: string): boolean {
    try {
      return this.rolesOf(who).every((role) => this.#roles.mayRead(role, plugin));
    } catch {
      // The caller is gone, or memory is being read again.
      return false;
    }
  }

  rolesOf({ kind, name }: Principal): readonly number[] {
    if (kind === 'session') {
      const admin = this.#admins.named(name);
      if (!admin?.enabled) throw kernelErrors.UNAUTHORIZED('this admin is deleted or disabled');
      return admin.roleId === 0 ? FULL : [admin.roleId];
    }
    if (kind !== 'token') return FULL;
    const token = this.#tokens.named(name);
    if (!token || !this.hasMaker(token)) throw errors.WRONG_TOKEN();
    const roles = [token.roleId, this.#admins.projection.state.get(token.makerId)?.roleId ?? 0];
    return roles.filter((role) => role !== 0);
  }

  /** Whether the maker of a token can still log in; true for a token that nobody made. One with a kind calls routes that no role allows. */
  hasMaker({ makerId, kind }: TokenRow): boolean {
    if (makerId === 0) return true;
    const maker = this.#admins.projection.state.get(makerId);
    return maker?.enabled === true && (kind === '' || maker.roleId === 0);
  }

  /** The admin who makes what this caller makes: of a token, its own maker. 0 where that is nobody. */
  adminOf({ kind, name }: Principal): number {
    if (kind === 'session') return this.#admins.named(name)?.id ?? 0;
    return kind === 'token' ? (this.#tokens.named(name)?.makerId ?? 0) : 0;
  }

  /** The admin for whom a caller acts; for a token that nobody made the only one there is. Undefined where that is nobody. */
  adminBehind(who: Principal): KnownAdmin | undefined {
    const known = this.#admins.projection.state;
    const maker = known.get(this.adminOf(who));
    if (maker || who.kind !== 'token' || known.size !== 1) return maker;
    return [...known.values()][0];
  }

  #refusal(role: number, lacking: string, call: string): Error {
    const name = JSON.stringify(this.#roles.nameOf(role));
    return errors.NO_PERMISSION(
      lacking === ''
        ? `only a full admin may call ${call}`
        : `the role ${name} lacks the permission ${lacking}, which ${call} needs; ask a full admin`,
    );
  }
}
