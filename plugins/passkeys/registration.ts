// A new passkey of the admin who is logged in, and who proves it again: a passkey outlasts the session.
import type { Database, Log, Principal, RequestInfo } from '../../kernel/index.js';
import { messageOf } from '../../kernel/index.js';
import type { AdminIdentity, OtherLoginsApi, OwnProof } from '../access/contract.js';
import type { RegisterAnswer } from './answers.js';
import type { Challenges } from './challenges.js';
import { errors } from './errors.js';
import type { Passkey, Passkeys } from './keys.js';
import { MOST_KEYS } from './keys.js';
import { placeOf } from './place.js';
import { registrationOptions, verifyRegistration } from './webauthn.js';

export class Registration {
  readonly #db: Database;
  readonly #keys: Passkeys;
  readonly #challenges: Challenges;
  readonly #logins: OtherLoginsApi;
  readonly #log: Log;

  constructor(needs: {
    db: Database;
    keys: Passkeys;
    challenges: Challenges;
    logins: OtherLoginsApi;
    log: Log;
  }) {
    this.#db = needs.db;
    this.#keys = needs.keys;
    this.#challenges = needs.challenges;
    this.#logins = needs.logins;
    this.#log = needs.log;
  }

  /** Throws NO_ADMIN for all that is no session of an admin. */
  adminOf(who: Principal): AdminIdentity {
    const admin = this.#logins.adminOf(who);
    if (!admin) throw errors.NO_ADMIN();
    return admin;
  }

  /** What the browser needs to make a passkey. */
  async begin(proof: OwnProof, request: RequestInfo) {
    const { id, username } = this.adminOf(request.who);
    // Before a code is used up.
    const place = placeOf(request);
    const known = await this.#keys.of(id);
    if (known.length >= MOST_KEYS) throw errors.TOO_MANY();
    await this.#logins.confirm(proof, request);
    const challenge = await this.#challenges.make(subjectOf(id, request.who), request);
    const handle = this.#challenges.handleOf(id, place.origin);
    const here = known.filter(({ origin }) => origin === place.origin);
    return registrationOptions({ place, challenge, handle, username, known: here });
  }

  async finish(name: string, answer: RegisterAnswer, request: RequestInfo): Promise<Passkey> {
    const admin = this.adminOf(request.who);
    const place = placeOf(request);
    const challenge = this.#challenges.take(subjectOf(admin.id, request.who), request);
    const made = await verifyRegistration(answer, { place, challenge: challenge.text }).catch(
      (cause: unknown) => {
        this.#log.info('a passkey was not registered', { reason: messageOf(cause).slice(0, 300) });
        throw errors.NOT_REGISTERED(undefined, { cause });
      },
    );
    return this.#db.write(async (tx) => {
      await this.#challenges.spend(tx, challenge);
      return this.#keys.add(tx, admin, { ...made, ...place, name }, request.who);
    });
  }
}

/** Of one admin in one session. */
const subjectOf = (adminId: number, { session = '' }: Principal): string => `register ${adminId} ${session}`;
