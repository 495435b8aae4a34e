// Bans that an admin makes and ends.
import type { Principal } from '../../kernel/index.js';
import type { BanStore } from './ban-store.js';
import type { BanFacts, BanScope, BanTarget } from './contract.js';
import type { Enforcer } from './enforcer.js';
import { errors } from './errors.js';
import { type Protection, whyProtected } from './protection.js';
import { banAddress, SCOPES } from './target.js';

export class HandBans {
  readonly #store: BanStore;
  readonly #enforcer: Enforcer;
  readonly #protection: Protection;

  constructor(needs: { store: BanStore; enforcer: Enforcer; protection: Protection }) {
    this.#store = needs.store;
    this.#enforcer = needs.enforcer;
    this.#protection = needs.protection;
  }

  async ban(
    ban: { readonly address: string; readonly scope: BanScope; readonly minutes: number },
    who: Principal,
  ): Promise<BanFacts> {
    const address = addressOf(ban.address);
    if (this.#enforcer.driver === '') throw errors.OFF();
    const reason = this.#protection.of(ban.address);
    if (reason !== '')
      throw errors.PROTECTED(`${address} is never banned: ${whyProtected(reason)}`, { path: 'address' });
    if (!this.#enforcer.isWorking)
      throw errors.UNUSABLE(`nobody can be banned now: ${this.#enforcer.standing.problem}`);
    if (this.#store.room <= 0 && !this.#store.isBanned({ address, scope: ban.scope })) throw errors.FULL();
    const { driver } = this.#enforcer;
    const [added] = await this.#store.add(
      [{ ...ban, address, reason: 'admin', clientId: 0, email: '', driver }],
      who,
    );
    await this.#carryOut(added ? [added] : []);
    return added as BanFacts;
  }

  /** Without a scope, in both. Throws NOT_FOUND. */
  async unban(text: string, scope: BanScope | undefined, who: Principal): Promise<readonly BanFacts[]> {
    const address = addressOf(text);
    const ended = await this.#end(
      SCOPES.filter((one) => scope === undefined || one === scope).map((one) => ({ address, scope: one })),
      who,
    );
    if (ended.length === 0) throw errors.NOT_FOUND(`${address} is not banned`, { path: 'address' });
    return ended;
  }

  unbanAll(who: Principal): Promise<readonly BanFacts[]> {
    return this.#end(this.#store.list(), who);
  }

  async #end(targets: readonly BanTarget[], who: Principal): Promise<readonly BanFacts[]> {
    const ended = await this.#store.end(targets, who);
    if (ended.length > 0) await this.#enforcer.withdraw(ended);
    if (ended.length > 0 && !this.#enforcer.isWorking)
      throw errors.UNUSABLE(
        `the bans are ended here, and not yet in the driver, which does not work: ${this.#enforcer.standing.problem}`,
      );
    return ended;
  }
  async #carryOut(bans: readonly BanFacts[]): Promise<void> {
    await this.#enforcer.carryOut(bans);
    if (!this.#enforcer.isWorking)
      throw errors.UNUSABLE(
        `the ban is stored and not carried out; it is tried again: ${this.#enforcer.standing.problem}`,
      );
  }
}

function addressOf(text: string): string {
  const address = banAddress(text);
  if (address === undefined)
    throw errors.NOT_FOUND(`${JSON.stringify(text.slice(0, 100))} is not an address`, { path: 'address' });
  return address;
}
