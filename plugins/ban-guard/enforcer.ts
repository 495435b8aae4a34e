// Carries bans out: keeps the chosen driver and the stored bans in agreement, and takes away what a previous driver left.
import {
  type Clock,
  type Contributed,
  type LiveSettings,
  type Log,
  type ListenersApi,
  messageOf,
  type PluginContext,
  SerialQueue,
} from '../../kernel/index.js';
import type { ClientAddressesApi } from '../addresses/contract.js';
import type { BanStore } from './ban-store.js';
import { type BanDriver, BanDrivers, type BanFacts, type BanPorts } from './contract.js';
import type { DriverMarks } from './driver-marks.js';
import { portsOf, sshPorts } from './ports.js';
import type { banGuardSettings } from './settings.js';
import { canonicalBans, type FoundBans, keyOf } from './target.js';
import { within } from './within.js';

const LIMIT_MS = 120_000;
/** Clocks of the panel and of a driver differ by less. */
const LEEWAY_S = 2;

export interface Standing {
  readonly installed: boolean;
  /** blank when bans are carried out */
  readonly problem: string;
}
const OFF: Standing = { installed: false, problem: '' };
const STARTING: Standing = { installed: false, problem: 'the driver has not been asked yet' };

export class Enforcer {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #settings: LiveSettings<typeof banGuardSettings>;
  readonly #contributions: PluginContext['contributions'];
  readonly #listeners: Pick<ListenersApi, 'places'>;
  readonly #store: BanStore;
  readonly #marks: DriverMarks;
  readonly #addresses: Pick<ClientAddressesApi, 'endUse'> | undefined;
  readonly #queue = new SerialQueue();
  /** drivers that are switched off and keep their bans, of which the log has a line */
  readonly #lingering = new Set<string>();
  #standing = STARTING;
  /** the driver whose standing it is */
  #asked = '';
  #waiting: Promise<void> | undefined;
  /** `changes` of the store that the driver was last compared with */
  #compared = 0;

  constructor(needs: {
    log: Log;
    clock: Clock;
    settings: LiveSettings<typeof banGuardSettings>;
    contributions: PluginContext['contributions'];
    listeners: Pick<ListenersApi, 'places'>;
    store: BanStore;
    marks: DriverMarks;
    clientAddresses: Pick<ClientAddressesApi, 'endUse'> | undefined;
  }) {
    this.#log = needs.log;
    this.#clock = needs.clock;
    this.#settings = needs.settings;
    this.#contributions = needs.contributions;
    this.#listeners = needs.listeners;
    this.#store = needs.store;
    this.#marks = needs.marks;
    this.#addresses = needs.clientAddresses;
  }

  /** name of the chosen driver; blank: nothing is banned */
  get driver(): string {
    return this.#settings.read().banGuardDriver;
  }
  get standing(): Standing {
    if (this.driver === '') return OFF;
    return this.driver === this.#asked ? this.#standing : STARTING;
  }
  get isWorking(): boolean {
    return this.driver !== '' && this.standing.problem === '';
  }
  drivers(): string[] {
    return this.#contributions(BanDrivers).map(({ value }) => value.name);
  }
  async ports(): Promise<BanPorts> {
    const places = this.#listeners.places();
    const of = (wanted: (name: string) => boolean) =>
      places.filter(({ name, port }) => wanted(name) && port > 0).map(({ port }) => port);
    const { open, panel } = portsOf({
      ssh: [...(await sshPorts()), ...of(() => true)],
      panel: of((name) => name === 'panel'),
      setting: this.#settings.read().banGuardOpenPorts,
    });
    return { open, panel };
  }

  /** Who comes back after a ban is new there. Also after a restart: what is known of addresses does not hold it. */
  noteEnds(bans: readonly BanFacts[], at?: number): void {
    for (const { clientId, address, scope, until } of bans)
      if (clientId !== 0 && scope === 'proxy') this.#addresses?.endUse(clientId, address, at ?? until);
  }

  /** Hands bans that were stored to the driver. Never rejects: what fails is tried again by `reconcile`. */
  carryOut(bans: readonly BanFacts[]): Promise<void> {
    this.noteEnds(bans);
    return this.#try(async (driver) => {
      await within(LIMIT_MS, driver.ban(this.#remaining(bans)));
    });
  }
  /** Ends bans in the driver. Never rejects. */
  withdraw(targets: readonly BanFacts[]): Promise<void> {
    this.noteEnds(targets, this.#clock.now());
    return this.#try(async (driver) => {
      await within(LIMIT_MS, driver.unban(targets));
    });
  }
  settled(): Promise<void> {
    return this.#queue.settled();
  }

  /** Another panel of this database has changed something: where that is a ban or the driver, it holds on this machine too. */
  async followOthers(): Promise<void> {
    if (this.#store.changes !== this.#compared || this.driver !== this.#asked) await this.reconcile();
  }

  /** Looks at the driver and makes it agree with what is stored. Many calls share one run. Never rejects. */
  reconcile(): Promise<void> {
    return (this.#waiting ??= this.#queue.run(async () => {
      this.#waiting = undefined;
      this.#compared = this.#store.changes;
      const wanted = this.driver;
      try {
        await this.#leave(wanted);
        if (wanted !== '') await this.#agree(wanted);
      } catch (error) {
        this.#set(wanted, { ...this.standing, problem: messageOf(error) });
      }
    }));
  }

  async #agree(wanted: string): Promise<void> {
    const { value: driver } = this.#find(wanted) ?? {};
    if (!driver) {
      const problem = `there is no ban driver ${wanted}; there are ${this.drivers().join(', ')}`;
      return this.#set(wanted, { installed: false, problem });
    }
    const state = await within(LIMIT_MS, driver.state());
    if (state.problem !== '') return this.#set(wanted, state);
    // First: if the panel is killed now, the next one knows what there may be.
    await this.#marks.add(wanted);
    await within(LIMIT_MS, driver.prepare?.(await this.ports()));
    await this.#store.moveTo(wanted);
    const listed = new Map(
      canonicalBans(await within(LIMIT_MS, driver.banned())).map((one) => [keyOf(one), one]),
    );
    const stored = this.#store.list();
    const missing = stored.filter((ban) => !listed.has(keyOf(ban)));
    this.noteEnds(missing);
    if (missing.length > 0) await within(LIMIT_MS, driver.ban(this.#remaining(missing)));
    for (const { address, scope } of stored) listed.delete(keyOf({ address, scope }));
    const ended = [...listed.values()].filter((one) => this.#store.get(one) !== undefined);
    if (ended.length > 0) await within(LIMIT_MS, driver.unban(ended));
    await this.#adopt(
      [...listed.values()].filter((one) => this.#store.get(one) === undefined),
      wanted,
    );
    this.#set(wanted, state);
  }

  /** Bans that somebody made by the driver's own means: shown, so that they can be ended. */
  async #adopt(found: FoundBans, driver: string): Promise<void> {
    const { banGuardMinutes } = this.#settings.read();
    await this.#store.add(
      found
        .filter(({ seconds = Number.POSITIVE_INFINITY }) => seconds > LEEWAY_S)
        .slice(0, Math.max(0, this.#store.room))
        .map(({ address, scope, seconds = banGuardMinutes * 60 }) => ({
          address,
          scope,
          reason: 'driver',
          clientId: 0,
          email: '',
          driver,
          minutes: seconds / 60,
        })),
    );
  }

  /** Takes away what drivers left that are no longer chosen. */
  async #leave(wanted: string): Promise<void> {
    for (const name of this.#marks.names.filter((name) => name !== wanted)) {
      const driver = this.#find(name)?.value;
      try {
        if (!driver) throw new Error('its plugin does not run');
        await within(LIMIT_MS, driver.clear());
        await this.#marks.remove(name);
        this.#lingering.delete(name);
      } catch (error) {
        if (this.#lingering.has(name)) continue;
        this.#lingering.add(name);
        this.#log.warn('the bans of a driver that is switched off are still there; trying again', {
          driver: name,
          reason: messageOf(error),
        });
      }
    }
    if (wanted === '') this.noteEnds(await this.#store.end(this.#store.list()), this.#clock.now());
  }

  #try(work: (driver: BanDriver) => Promise<void>): Promise<void> {
    return this.#queue.run(async () => {
      const driver = this.#find(this.driver)?.value;
      if (!driver || !this.isWorking) return;
      try {
        await work(driver);
      } catch (error) {
        this.#set(driver.name, { installed: this.#standing.installed, problem: messageOf(error) });
      }
    });
  }

  #find(name: string): Contributed<BanDriver> | undefined {
    return this.#contributions(BanDrivers).find(({ value }) => value.name === name);
  }
  #remaining(bans: readonly BanFacts[]) {
    const now = this.#clock.now();
    return bans
      .filter(({ until }) => until > now)
      .map(({ address, scope, since, until, email, reason }) => ({
        address,
        scope,
        email,
        reason,
        // A clock that was set back makes no ban longer than it was meant to be.
        seconds: Math.ceil((until - Math.max(now, since)) / 1000),
      }));
  }

  #set(driver: string, next: Standing): void {
    const before = driver === this.#asked ? this.#standing : STARTING;
    this.#asked = driver;
    this.#standing = { installed: next.installed, problem: next.problem.slice(0, 500) };
    if (before.problem === this.#standing.problem) return;
    if (next.problem !== '')
      this.#log.warn('addresses cannot be banned; trying again', {
        driver,
        reason: next.problem,
      });
    else this.#log.info('bans are carried out', { driver });
  }
}
