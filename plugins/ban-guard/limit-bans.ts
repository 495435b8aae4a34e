// Bans addresses of clients over their `limitIp`.
import { type LiveSettings, type Log, messageOf, storageFailure, TimeSlice } from '../../kernel/index.js';
import type { ClientAddressesApi } from '../addresses/contract.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { OpenConnectionsApi } from '../connection-cut/contract.js';
import type { InboundsApi } from '../inbounds/contract.js';
import type { BanStore } from './ban-store.js';
import { decide, type Decided, type OverLimit } from './decision.js';
import type { Enforcer } from './enforcer.js';
import { isForgeable } from './forgeable.js';
import type { Protection } from './protection.js';
import type { banGuardSettings } from './settings.js';
import { MOST_NAMED, type SparedAddresses } from './spared.js';
import { banAddress } from './target.js';

interface Needs {
  readonly log: Log;
  readonly settings: LiveSettings<typeof banGuardSettings>;
  readonly clientAddresses: ClientAddressesApi | undefined;
  readonly clients: Pick<ClientsApi, 'byId'>;
  readonly inbounds: Pick<InboundsApi, 'get'>;
  readonly connections: OpenConnectionsApi | undefined;
  readonly store: BanStore;
  readonly enforcer: Enforcer;
  readonly protection: Protection;
  readonly spared: SparedAddresses;
}

export class LimitBans {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  get isOn(): boolean {
    return this.#needs.enforcer.isWorking && this.#needs.settings.read().banGuardLimitIp;
  }

  async exceeded(over: readonly Omit<OverLimit, 'isForgeable'>[]): Promise<void> {
    if (!this.isOn) return;
    const { enforcer, log, settings, store } = this.#needs;
    const decided = await this.#decide(over);
    const { room } = store;
    if (decided.length > room)
      log.warn('as many addresses are banned as can be; the others over their limitIp are not', { room });
    const chosen = decided.slice(0, Math.max(0, room));
    const { banGuardMinutes: minutes } = settings.read();
    const driver = enforcer.driver;
    try {
      const bans = await store.add(
        chosen.map((ban) => ({
          ...ban,
          scope: 'proxy' as const,
          reason: 'limitIp' as const,
          driver,
          minutes,
        })),
      );
      if (bans.length === 0) return;
      await enforcer.carryOut(bans);
      log.info('banned addresses over limitIp', {
        addresses: bans.slice(0, 50).map(({ address }) => address),
        bans: bans.length,
        clients: [...new Set(bans.map(({ email }) => email))].slice(0, 50),
      });
    } catch (error) {
      if (!storageFailure(error)) throw error;
      log.warn('bans cannot be stored, so nobody is banned; trying again at the next connection', {
        reason: messageOf(error),
      });
      return;
    }
    await this.#close(chosen);
  }

  /** In portions: another panel may report thousands of clients at once. */
  async #decide(over: readonly Omit<OverLimit, 'isForgeable'>[]): Promise<readonly Decided[]> {
    const { clients, inbounds, protection, spared, store } = this.#needs;
    // Behind a tunnel that nobody has named, all clients are at one address.
    const known = new Map<string, readonly ClientRow[]>();
    const around = {
      protection: protection.now(),
      sharedWith: (address: string, clientId: number) => {
        const there = known.get(address) ?? this.#clientsAt(address);
        known.set(address, there);
        return there
          .filter(({ id }) => id !== clientId)
          .slice(0, MOST_NAMED)
          .map(({ email }) => email);
      },
      bannedUntil: (address: string) => store.get({ address, scope: 'proxy' })?.until ?? 0,
    };
    const decided = new Map<string, Decided>();
    const slice = new TimeSlice();
    for (const client of over) {
      if (slice.isOver) await slice.next();
      const isOneForgeable = (clients.byId(client.id)?.inboundIds ?? []).some((id) => {
        const inbound = inbounds.get(id);
        return inbound !== undefined && isForgeable(inbound);
      });
      const decision = decide([{ ...client, isForgeable: isOneForgeable }], around);
      for (const ban of decision.bans) decided.set(ban.address, ban);
      spared.add(decision.spared);
    }
    return [...decided.values()];
  }

  /** Enabled clients there: as many as are named, and the one that is asked about. */
  #clientsAt(address: string): readonly ClientRow[] {
    const { clientAddresses, clients } = this.#needs;
    const found: ClientRow[] = [];
    for (const { clientId } of clientAddresses?.at(address) ?? []) {
      const client = clients.byId(clientId);
      if (client?.enable === true) found.push(client);
      if (found.length > MOST_NAMED) break;
    }
    return found;
  }

  /** What was opened between the first cut and the ban would hang until its time is over. */
  async #close(bans: readonly Decided[]): Promise<void> {
    const { clients, connections, log } = this.#needs;
    const users = [...new Set(bans.map(({ clientId }) => clientId))].flatMap((clientId) =>
      (clients.byId(clientId)?.inboundIds ?? []).map((inboundId) => ({ clientId, inboundId })),
    );
    const banned = new Set(bans.map(({ clientId, address }) => `${clientId} ${address}`));
    try {
      const open = (await connections?.of(users)) ?? [];
      const hanging = open.filter(({ clientId, address }) =>
        banned.has(`${clientId} ${banAddress(address) ?? ''}`),
      );
      if (hanging.length > 0) await connections?.close(hanging);
    } catch (error) {
      log.debug('connections of banned addresses are not closed', { reason: messageOf(error) });
    }
  }
}
