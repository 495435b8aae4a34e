// Addresses of users who are connected now.
import type { CoreOnlineApi, OnlineAddress, UserRef } from '../contract.js';
import type { Supervisor } from '../life/supervisor.js';
import { userOf } from '../users/user-name.js';

/** Users that one call asks about; with more, the next call asks about the next ones. */
const MOST_USERS = 500;

export class Online implements CoreOnlineApi {
  readonly #supervisor: Pick<Supervisor, 'reader'>;
  #turn = 0;

  constructor({ supervisor }: { supervisor: Pick<Supervisor, 'reader'> }) {
    this.#supervisor = supervisor;
  }

  async addresses(wanted: (user: UserRef) => boolean): Promise<readonly OnlineAddress[]> {
    const users = await this.#supervisor.reader?.online?.((names) =>
      this.#inTurn(
        names.filter((name) => {
          const user = userOf(name);
          return user !== undefined && wanted(user);
        }),
      ),
    );
    return (users ?? []).flatMap(({ name, addresses }) => {
      const user = userOf(name);
      return user ? addresses.map((address) => ({ ...user, address })) : [];
    });
  }

  #inTurn(names: readonly string[]): readonly string[] {
    if (names.length <= MOST_USERS) return names;
    const from = (this.#turn++ * MOST_USERS) % names.length;
    return names.slice(from, from + MOST_USERS);
  }
}
