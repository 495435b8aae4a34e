// Hooks of logins, admins and API tokens, for other plugins.
import {
  choose,
  during,
  event,
  extensionPoint,
  guard,
  type Principal,
  type RequestInfo,
  token,
  word,
} from '../../kernel/index.js';

/** Runs before a login is checked; a tap can refuse it, e.g. to keep an address out. By another proof than a password the name is known, and this called, only after the check. */
export const beforeLogin = guard<{ readonly username: string; readonly ip: string }>('access/beforeLogin');
/** Chooses the CSRF token of the session that a login is about to open; without an answer it is a new random one. A tap gives 32 to 64 characters and must prove that no page of another site could know or plant them. */
export const sessionToken = choose<Pick<RequestInfo, 'ip' | 'headers' | 'cookies'>, string>(
  'access/sessionToken',
  // Shorter ones could be guessed.
  word().min(32).max(64),
);
/** The `reason` of an attempt that was not checked because too many failed before it. */
export const BLOCKED = 'too many failed attempts';
/** Reports every attempt to log in; `reason` is empty on success, `username` where no name was given. */
export const loginAttempted = event<{
  readonly attempts: readonly {
    readonly username: string;
    readonly ip: string;
    readonly ok: boolean;
    readonly reason: string;
    /** `password`, or a method of `LoginMethods` */
    readonly method: string;
  }[];
}>('access/loginAttempted');

export interface AdminFacts {
  readonly username: string;
  /** 0: a full admin */
  readonly role: number;
  readonly enabled: boolean;
}
/** The change holds neither passwords nor hashes. */
export interface AdminChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  /** of the admin; never used again */
  readonly id: number;
  readonly before: AdminFacts | undefined;
  readonly after: AdminFacts | undefined;
  readonly setsPassword: boolean;
}
/** Runs in the transaction that adds, changes or deletes admins. */
export const duringAdminSave = during<{
  readonly changes: readonly AdminChange[];
  readonly who: Principal;
}>('access/duringAdminSave');

export {
  type AdminIdentity,
  type LoginMethod,
  LoginMethods,
  type OtherLogin,
  OtherLogins,
  type OtherLoginsApi,
  type OwnProof,
} from './other-logins.js';
export {
  AdminList,
  type AdminListApi,
  type AdminWithId,
  type CalledRoute,
  CallerRights,
  type CallerRightsApi,
  RoleHolders,
  type RoleHoldersApi,
  RoleRights,
} from './role-contract.js';

/** A kind of API token that may call some routes only. */
export interface TokenKind {
  /** also the kind of the principal */
  readonly kind: string;
  /** Whether its tokens may call this path, which has no base path and no query. Called for each of their requests. */
  mayCall(method: string, path: string): boolean;
}
const KIND = /^[a-z]{1,16}$/;
const TAKEN = ['session', 'token', 'command', 'plugin', 'anyone'];
/** Kinds of API tokens beside those of full admins. */
export const TokenKinds = extensionPoint<TokenKind>(
  'access',
  'TokenKinds',
  ({ kind, mayCall }, _, others) => {
    if (typeof kind !== 'string' || !KIND.test(kind) || TAKEN.includes(kind))
      return `kind must be a word of small letters, and not ${TAKEN.join(', ')}`;
    if (typeof mayCall !== 'function') return `the kind ${kind} needs the function mayCall`;
    const other = others.find(({ value }) => value.kind === kind);
    return other && `the kind ${kind} already exists, in plugin ${other.plugin}`;
  },
);

export interface TokenFacts {
  readonly id: number;
  readonly name: string;
  /** blank: not limited to the routes of a kind */
  readonly kind: string;
  /** 0: none of its own */
  readonly role: number;
  readonly enabled: boolean;
  /** Unix ms; 0: never */
  readonly expiresAt: number;
}
export interface TokenChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: TokenFacts | undefined;
  readonly after: TokenFacts | undefined;
}
/** Runs in the transaction that adds, enables, disables or deletes API tokens; the changes hold neither tokens nor digests. */
export const duringTokenSave = during<{
  readonly changes: readonly TokenChange[];
  readonly who: Principal;
}>('access/duringTokenSave');

/** An API token of another panel, of which only the digest is known. */
export interface OlderToken {
  readonly name: string;
  /** SHA-256 of the token, in lower-case hex */
  readonly digest: string;
  readonly enabled: boolean;
  /** Unix seconds */
  readonly createdAt: number;
  /** Unix ms; 0: never */
  readonly expiresAt: number;
  /** blank: of a full admin; else a kind of `TokenKinds` */
  readonly kind: string;
}
/** Takes in who may use another panel. Do not call it inside a write. */
export interface AccessArrivalsApi {
  hasAdmin(username: string): Promise<boolean>;
  /** Adds an admin with the hash of bcrypt of another panel. It is replaced by one of argon2id at the first login. Rejects with ADMIN_TAKEN or NOT_BCRYPT. */
  addAdmin(username: string, bcryptHash: string, who: Principal): Promise<void>;
  /** Why this admin cannot be added; undefined when it can. */
  adminProblem(username: string, bcryptHash: string): string | undefined;
  hasToken(digest: string): boolean;
  /** Why this token cannot be added, but for a name that is taken; undefined when it can. */
  tokenProblem(older: OlderToken): string | undefined;
  /** Adds the token; under a longer name if another one has its name, which is returned. Rejects with KERNEL_INVALID or TOKEN_KIND. */
  addToken(older: OlderToken, who: Principal): Promise<string>;
}
export const AccessArrivals = token<AccessArrivalsApi>('access', 'AccessArrivals');
