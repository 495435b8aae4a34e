// A login with a passkey: no name, no password, no code. The authenticator has checked a PIN, a finger or a face, so the
// key is one factor and that is the other one.
import {
  type Database,
  type Hooks,
  type Log,
  messageOf,
  type RequestInfo,
  sameSecret,
} from '../../kernel/index.js';
import type { OtherLoginsApi } from '../access/contract.js';
import type { LoginAnswer } from './answers.js';
import type { Challenge, Challenges } from './challenges.js';
import { passkeyCopied } from './contract.js';
import { errors } from './errors.js';
import type { Passkey, Passkeys } from './keys.js';
import { type Place, placeOf } from './place.js';
import { loginOptions, verifyLogin } from './webauthn.js';

export const METHOD = 'passkey';
const SUBJECT = 'login';

export class PasskeyLogin {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #log: Log;
  readonly #keys: Passkeys;
  readonly #challenges: Challenges;
  readonly #logins: OtherLoginsApi;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    log: Log;
    keys: Passkeys;
    challenges: Challenges;
    logins: OtherLoginsApi;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#log = needs.log;
    this.#keys = needs.keys;
    this.#challenges = needs.challenges;
    this.#logins = needs.logins;
  }

  refuseBlocked(request: RequestInfo): void {
    this.#logins.refuseBlocked(METHOD, request);
  }

  async begin(request: RequestInfo) {
    const place = placeOf(request);
    return loginOptions(place, await this.#challenges.make(SUBJECT, request));
  }

  /** Returns the name of the admin who is logged in now. */
  async finish(answer: LoginAnswer, request: RequestInfo): Promise<string> {
    // Not counted as failures: people are slow, and open the panel at other addresses.
    const place = placeOf(request);
    const challenge = this.#challenges.take(SUBJECT, request);
    let key: Passkey | undefined;
    const check = async (named: (username: string) => void): Promise<number> => {
      key = await this.#keys.withCredential(answer.id);
      const admin = key && this.#logins.adminWith(key.adminId);
      if (!key || !admin) throw errors.REFUSED();
      const counter = await this.#verified(answer, key, { place, challenge });
      // Only now: before the signature anybody may claim to have a key.
      named(admin.username);
      if (!(await this.#isNext(key, counter, challenge))) {
        this.#reportCopy(key, admin.username, request.ip);
        throw errors.COUNTER();
      }
      return admin.id;
    };
    // Removing the key ends the sessions that are open by then.
    const holds = async () => key !== undefined && (await this.#keys.isThere(key.id));
    return (await this.#logins.logIn({ method: METHOD, check, holds }, request)).username;
  }

  /** Returns the counter. Throws REFUSED, or OTHER_ADDRESS for a key of another page. */
  async #verified(
    answer: LoginAnswer,
    key: Passkey,
    { place, challenge }: { readonly place: Place; readonly challenge: Challenge },
  ): Promise<number> {
    if (key.origin !== place.origin || key.rpId !== place.rpId) throw errors.OTHER_ADDRESS();
    const handle = this.#challenges.handleOf(key.adminId, key.origin).toString('base64url');
    if (!sameSecret(answer.response.userHandle ?? '', handle)) throw errors.REFUSED();
    return verifyLogin(answer, { key, challenge: challenge.text }).catch((cause: unknown) => {
      this.#log.info('a login with a passkey was refused', { reason: messageOf(cause).slice(0, 300) });
      throw errors.REFUSED(undefined, { cause });
    });
  }

  #isNext(key: Passkey, counter: number, challenge: Challenge): Promise<boolean> {
    return this.#db.write(async (tx) => {
      await this.#challenges.spend(tx, challenge);
      return this.#keys.count(tx, key, counter);
    });
  }

  #reportCopy({ id, name }: Passkey, username: string, ip: string): void {
    this.#log.warn('the counter of a passkey went back; there may be a copy of it', {
      passkey: id,
      username,
      ip,
    });
    if (this.#hooks.isUsed(passkeyCopied)) this.#hooks.emit(passkeyCopied, { username, name, ip });
  }
}
