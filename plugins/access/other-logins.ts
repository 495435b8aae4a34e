// Logins by another proof than a password: what plugins that check such proofs use. Part of contract.ts.
import { extensionPoint, type Principal, type RequestInfo, token } from '../../kernel/index.js';

/** An admin, as plugins know it that keep something for it. An id is never used again. */
export interface AdminIdentity {
  readonly id: number;
  readonly username: string;
  /** 0: a full admin */
  readonly role: number;
  readonly enabled: boolean;
}

export interface OtherLogin {
  /** The kind of proof, as in `LoginMethods`; in the event of the login and in the audit. */
  readonly method: string;
  /**
   * Checks the proof, and returns the id of the admin who gave it. A PanelError below 500 counts as a failed login, and its
   * message is the reason that admins read; every other error counts as nothing. Call `named` as soon as a name is claimed.
   */
  readonly check: (named: (username: string) => void) => Promise<number>;
  /** Whether the proof still counts; asked again when the session is open, as it may have been withdrawn meanwhile. */
  readonly holds?: () => boolean | Promise<boolean>;
}

/** What an admin enters to prove who has this session. */
export interface OwnProof {
  readonly password: string;
  readonly twoFactorCode?: string | undefined;
}

/**
 * Opens sessions for proofs that cannot be guessed. A code of the second factor is not asked for: whoever calls this
 * vouches that the proof is worth both.
 */
export interface OtherLoginsApi {
  /** Throws ACCESS_TOO_MANY_LOGINS while the device or address has failed too often, and reports that. Counts nothing: call it before anything that costs. */
  refuseBlocked(method: string, request: RequestInfo): void;
  /**
   * Logs in: asks `beforeLogin`, opens the session, sets its cookie and that of the device, and remembers the address. It
   * counts and reports failures as a login with a password does. Rejects with ACCESS_LOGIN_REFUSED for an admin who is
   * deleted, disabled or changed meanwhile.
   */
  logIn(login: OtherLogin, request: RequestInfo): Promise<AdminIdentity>;
  /** Checks password and code of the admin who has the session, before a way in is added. Rejects with ACCESS_WRONG_CREDENTIALS, ACCESS_WRONG_CODE, ACCESS_TOO_MANY_LOGINS, or ACCESS_OWN_ACCOUNT without a session. */
  confirm(proof: OwnProof, request: RequestInfo): Promise<AdminIdentity>;
  /** The admin whose session this is; undefined for API tokens and all others. */
  adminOf(who: Principal): AdminIdentity | undefined;
  /** The admin with this id; undefined if it is deleted. */
  adminWith(id: number): AdminIdentity | undefined;
  /** The admin with this name, letter by letter. */
  adminNamed(username: string): AdminIdentity | undefined;
}
export const OtherLogins = token<OtherLoginsApi>('access', 'OtherLogins');

/** A way to log in beside the password. */
export interface LoginMethod {
  /** one word of small letters */
  readonly method: string;
  /** The name at its button, blank for the words of the page; undefined while nobody can log in by it. Anybody may ask, so answer from memory. */
  label(): string | undefined;
}
const METHOD = /^[a-z]{1,16}$/;
/** The ways to log in beside the password, for the page of the login. */
export const LoginMethods = extensionPoint<LoginMethod>(
  'access',
  'LoginMethods',
  ({ method, label }, _, others) => {
    if (typeof method !== 'string' || !METHOD.test(method) || method === 'password')
      return 'method must be a word of small letters, and not password';
    if (typeof label !== 'function') return `the method ${method} needs the function label`;
    const other = others.find(({ value }) => value.method === method);
    return other && `the method ${method} already exists, in plugin ${other.plugin}`;
  },
);
