// The device of this panel at the tunnel service. A new one is in force before the previous one is forgotten: until then
// both are on disk, so that a panel that is killed in between goes on with one that works.
import {
  type Clock,
  type Database,
  type LiveSettings,
  type Log,
  messageOf,
  type Principal,
  type Tx,
} from '../../kernel/index.js';
import { type Account, readAccount, textOf } from './account.js';
import type { DeviceStore } from './device-store.js';
import { errors } from './errors.js';
import type { Forgetting } from './forgetting.js';
import { type KeyPair, newKeyPair } from './keys.js';
import type { tunnelSettings } from './settings.js';
import { TAG, type TunnelOutbound } from './tunnel-outbound.js';
import type { TunnelService } from './tunnel-service.js';

/** A licence that was bought; the service gives shorter ones to devices without. */
const SHORTEST_BOUGHT = 26;
const DAY_S = 86_400;

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: Principal;
  readonly settings: LiveSettings<typeof tunnelSettings>;
  readonly outbound: TunnelOutbound;
  readonly store: DeviceStore;
  readonly service: TunnelService;
  readonly forgetting: Forgetting;
}
/** JSON text for `obj`, and a sentence for people. */
export interface Done {
  readonly text: string;
  readonly said: string;
}

export interface Applied {
  readonly outbound: { readonly tag: string; readonly replaced: boolean; readonly endpoint: string };
  readonly said: string;
}

export class TunnelDevices {
  readonly #needs: Needs;
  #isBusy = false;

  constructor({ db, clock, log, self, settings, outbound, store, service, forgetting }: Needs) {
    this.#needs = { db, clock, log, self, settings, outbound, store, service, forgetting };
  }

  /** The JSON text of the device in force; blank for none. */
  get stored(): string {
    return this.#needs.settings.read().edgetunnelSecret;
  }
  get account(): Account | undefined {
    return this.stored === '' ? undefined : readAccount(this.stored);
  }
  /** Throws EDGETUNNEL_NO_DEVICE. */
  get needed(): Account {
    const { account } = this;
    if (!account) throw errors.NO_DEVICE();
    return account;
  }

  /** Registers a device; the previous one is retired. */
  register(keys: KeyPair, who: Principal): Promise<Done> {
    return this.#alone(async () => {
      const { account, config } = await this.#needs.service.register(keys);
      const previous = this.account;
      await this.#needs.db.write((tx) => this.#replace(tx, account, who));
      this.#needs.forgetting.begin();
      const using = previous ? this.#needs.outbound.using(previous.private_key) : [];
      const said =
        using.length === 0
          ? 'the device is registered'
          : `the device is registered; ${using.join(', ')} in the template still has the previous one, until x/edgetunnel/apply puts this one in`;
      return { said, text: resultText({ data: textOf(account), config }) };
    });
  }

  setLicense(license: string, who: Principal): Promise<Done> {
    return this.#alone(async () => {
      const account = this.needed;
      await this.#needs.service.setLicense(account, license);
      const text = textOf({ ...account, license_key: license });
      await this.#needs.db.write((tx) => this.#needs.settings.change(tx, { edgetunnelSecret: text }, who));
      return { text, said: 'the device has the licence' };
    });
  }

  /** Replaces the device by a new one, in the template too. `progressed` is called after each part. */
  changeIp(who: Principal, progressed: () => void = () => undefined): Promise<Done> {
    return this.#alone(() => this.#changeIp(who, progressed));
  }

  /** Puts the device into the outbound `warp` of the template. */
  apply(who: Principal, progressed: () => void): Promise<Applied> {
    return this.#alone(async () => {
      const { tunnel } = await this.#needs.service.config(this.needed);
      progressed();
      const far = tunnel();
      const { replaced, said } = await this.#needs.outbound.put(far, who);
      return { outbound: { tag: TAG, replaced, endpoint: far.endpoint }, said };
    });
  }

  /** Forgets the device; it is deleted at the service as soon as no outbound uses it. */
  delete(who: Principal): Promise<Done> {
    return this.#alone(async () => {
      const { db, settings, store, forgetting, outbound } = this.#needs;
      const { account } = this;
      if (!account) return { text: '', said: 'there is no device' };
      await db.write(async (tx) => {
        // A device that is registered later is not replaced because of this one.
        const none = { edgetunnelSecret: '', edgetunnelLastUpdate: 0, edgetunnelUpdateInterval: 0 };
        await settings.change(tx, none, who);
        await store.add(tx, account, 'retired');
      });
      forgetting.begin();
      const using = outbound.using(account.private_key);
      const said =
        using.length === 0
          ? 'the device is removed'
          : `the device is removed here; ${using.join(', ')} in the template still uses it, so it is deleted at the service when no outbound does`;
      return { text: '', said };
    });
  }

  async setInterval(days: number, who: Principal): Promise<Done> {
    const { db, settings, clock } = this.#needs;
    const isFirst = days > 0 && settings.read().edgetunnelLastUpdate === 0;
    await db.write((tx) =>
      settings.change(
        tx,
        {
          edgetunnelUpdateInterval: days,
          ...(isFirst && { edgetunnelLastUpdate: Math.floor(clock.now() / 1000) }),
        },
        who,
      ),
    );
    return { text: '', said: days === 0 ? 'the device stays' : `the device is replaced every ${days} days` };
  }

  /** Replaces the device when it is due; a job calls it. */
  async rotate(): Promise<void> {
    const { db, clock, log, self, settings } = this.#needs;
    const { edgetunnelUpdateInterval: days, edgetunnelLastUpdate: last } = settings.read();
    if (days === 0 || !this.account) return;
    const now = Math.floor(clock.now() / 1000);
    if (last === 0 || last > now) {
      await db.write((tx) => settings.change(tx, { edgetunnelLastUpdate: now }, self));
      return;
    }
    if (now - last < days * DAY_S) return;
    try {
      await this.changeIp(self);
      log.info('the device of the tunnel service is replaced');
    } catch (error) {
      log.warn('the device of the tunnel service was not replaced; the previous one stays', {
        reason: messageOf(error),
      });
    }
  }

  /** Finishes a rotation that was cut off: the device that the template uses is in force, another one is retired. */
  async settle(): Promise<void> {
    const { db, self, store, outbound } = this.#needs;
    for (const { id, account } of await store.list('new')) {
      const isInForce = outbound.using(account.private_key).length > 0;
      await db.write(async (tx) => {
        if (!isInForce) return store.retire(tx, id);
        await store.remove(tx, id);
        await this.#replace(tx, account, self);
      });
    }
  }

  async #changeIp(who: Principal, progressed: () => void): Promise<Done> {
    const { db, service, store, forgetting, outbound } = this.#needs;
    const previous = this.needed;
    const { account: fresh, config, tunnel } = await service.register(newKeyPair());
    progressed();
    // From here on a panel that is killed knows of the new device.
    const id = await db.write((tx) => store.add(tx, fresh, 'new'));
    let next = fresh;
    let warning: string | undefined;
    let said: string;
    try {
      const far = tunnel();
      if (previous.license_key.length >= SHORTEST_BOUGHT) {
        // A panel that is killed now would lose it with the previous device.
        const licensed = { ...fresh, license_key: previous.license_key };
        await db.write((tx) => store.replace(tx, id, licensed));
        warning = await this.#takeLicense(fresh, previous.license_key);
        if (warning === undefined) next = licensed;
        progressed();
      }
      said = await outbound.replace(previous.private_key, far, who);
    } catch (error) {
      // An error may come after the change; then the next call puts the new device in force.
      if (outbound.using(fresh.private_key).length > 0) throw error;
      await db.write((tx) => store.retire(tx, id));
      forgetting.begin();
      throw error;
    }
    await db.write(async (tx) => {
      await store.remove(tx, id);
      await this.#replace(tx, next, who);
    });
    forgetting.begin();
    return {
      text: resultText({ data: textOf(next), config, warning }),
      said: [`the device is replaced`, ...(said === '' ? [] : [said]), ...(warning ? [warning] : [])].join(
        '; ',
      ),
    };
  }

  /** Returns why the new device did not take the licence. */
  async #takeLicense(device: Account, license: string): Promise<string | undefined> {
    try {
      await this.#needs.service.setLicense(device, license);
      return undefined;
    } catch (error) {
      return `the new device has no licence: ${messageOf(error)}; set it again with the action license`;
    }
  }

  /** Puts a device in force; the previous one is retired. */
  async #replace(tx: Tx, account: Account, who: Principal): Promise<void> {
    const { settings, store, clock } = this.#needs;
    const { account: previous } = this;
    await settings.change(
      tx,
      { edgetunnelSecret: textOf(account), edgetunnelLastUpdate: Math.floor(clock.now() / 1000) },
      who,
    );
    if (previous && previous.device_id !== account.device_id) await store.add(tx, previous, 'retired');
  }

  /** Two at once would each register a device and retire the same one. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) throw errors.BUSY();
    this.#isBusy = true;
    try {
      await this.settle();
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }
}

/** The parts are JSON already; a reply of the service may nest deeper than JSON.stringify can follow. */
const resultText = ({
  data,
  config,
  warning,
}: {
  data: string;
  config: string;
  warning?: string | undefined;
}) =>
  `{"data":${data},"config":${config}${warning === undefined ? '' : `,"warning":${JSON.stringify(warning)}`}}`;
