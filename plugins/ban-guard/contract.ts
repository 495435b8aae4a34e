// Bans of addresses: lets other plugins add a way to ban, and reports who is banned.
import { during, event, extensionPoint, type Principal } from '../../kernel/index.js';

export { fail2banFiles, type Fail2banFile, FAIL2BAN_OWN } from './fail2ban/files.js';
export { FAIL2BAN_JAILS } from './fail2ban/log-lines.js';

/** Ports that a ban closes. `proxy`: all TCP and UDP ports but those that stay open; `panel`: the ports of the panel alone. */
export type BanScope = 'proxy' | 'panel';
/** `limitIp`: over the limit of a client; `login`: too many failed logins; `admin`: by hand; `driver`: found in the driver, and not made by this panel */
export type BanReason = 'limitIp' | 'login' | 'admin' | 'driver';

export interface BanTarget {
  /** an IPv4 address, or the first of an IPv6 /64, which is banned as a whole: `2001:db8:0:7::` */
  readonly address: string;
  readonly scope: BanScope;
}
/** A ban as a driver carries it out. */
export interface DriverBan extends BanTarget {
  /** for how long from now */
  readonly seconds: number;
  /** of the client; blank without one. It may hold any characters. */
  readonly email: string;
  readonly reason: BanReason;
}
export interface BanPorts {
  /** never closed by a ban of the scope `proxy`: ssh, the panel, and `banGuardOpenPorts` */
  readonly open: readonly number[];
  /** what a ban of the scope `panel` closes */
  readonly panel: readonly number[];
}
export interface DriverState {
  /** whether the program that it needs is there */
  readonly installed: boolean;
  /** why it cannot ban now, with the way out; blank when it can */
  readonly problem: string;
}

/** A way to ban addresses on this machine. Calls come one after another; one that takes longer than two minutes counts as failed. */
export interface BanDriver {
  /** value of the setting `banGuardDriver` */
  readonly name: string;
  state(): Promise<DriverState>;
  /** Before the first ban, when ports change, and every half minute: makes what bans need, and keeps the bans that there are. */
  prepare?(ports: BanPorts): Promise<void>;
  /** Bans all of them, or rejects; one that is banned already gets the new time. */
  ban(bans: readonly DriverBan[]): Promise<void>;
  /** Ends bans; those that are not there are no failure. */
  unban(targets: readonly BanTarget[]): Promise<void>;
  /** Everything that it bans now, with the rest of its time where it is known. */
  banned(): Promise<readonly (BanTarget & { readonly seconds?: number | undefined })[]>;
  /** Takes away all bans and all that it made for them: it is no longer chosen. */
  clear(): Promise<void>;
}
/** The ban drivers. */
export const BanDrivers = extensionPoint<BanDriver>(
  'ban-guard',
  'BanDrivers',
  (added, { name, outside }, others) => {
    const { name: driver } = added;
    if (typeof driver !== 'string' || !/^[a-z][a-z0-9.-]{0,63}$/.test(driver))
      return 'the name of a ban driver is small letters, digits, dots and hyphens';
    const missing = (['state', 'ban', 'unban', 'banned', 'clear'] as const).filter(
      (key) => typeof added[key] !== 'function',
    );
    if (missing.length > 0) return `the ban driver ${driver} needs the functions ${missing.join(', ')}`;
    if (outside && driver !== name && !driver.startsWith(`${name}.`))
      return `the ban driver ${driver} must be called ${name} or ${name}.…, because names of a third-party plugin begin with its own`;
    const other = others.find(({ value }) => value.name === driver);
    return other && `the ban driver ${driver} already exists, in plugin ${other.plugin}; choose another name`;
  },
);

export interface BanFacts extends BanTarget {
  readonly reason: BanReason;
  /** 0 without a client */
  readonly clientId: number;
  readonly email: string;
  /** of the driver that carries it out */
  readonly driver: string;
  /** Unix ms */
  readonly since: number;
  readonly until: number;
}
/** Addresses were banned. Emitted once for each ban, when it is stored and handed to the driver. */
export const addressesBanned = event<{ readonly bans: readonly BanFacts[] }>('ban-guard/addressesBanned');
/** Bans ended before their time: an admin ended them, or banning was switched off. */
export const addressesUnbanned = event<{ readonly bans: readonly BanFacts[] }>('ban-guard/addressesUnbanned');

/** Settings of bans changed, and memory has the new ones. */
export const banSettingsChanged = event<Readonly<Record<never, never>>>('ban-guard/banSettingsChanged');

export interface BanChange {
  readonly kind: 'added' | 'deleted';
  readonly before: BanFacts | undefined;
  readonly after: BanFacts | undefined;
}
/** Runs in the transaction in which an admin bans an address or ends bans; not for those that the panel decides on. */
export const duringBanSave = during<{ readonly changes: readonly BanChange[]; readonly who: Principal }>(
  'ban-guard/duringBanSave',
);
