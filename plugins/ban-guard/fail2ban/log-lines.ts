// The lines that fail2ban reads. Nothing that others choose stands in them as it came, so no line can name another address.
import type { BanScope, DriverBan } from '../contract.js';

/** in the data folder */
export const LOG_FOLDER = 'ban-guard';
export const LOG_NAMES: Readonly<Record<BanScope, string>> = { proxy: 'limit.log', panel: 'logins.log' };
export const JAILS: Readonly<Record<BanScope, string>> = { proxy: 'weir-limit', panel: 'weir-login' };
export const FAIL2BAN_JAILS: readonly string[] = Object.values(JAILS);

const LONGEST_NAME = 300;

/** Letters, digits and `. _ @ + -` stay; every other byte is written as `%` and two digits. */
export const encoded = (name: string): string =>
  [...Buffer.from(name, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._@+-]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('')
    .slice(0, LONGEST_NAME);

/** @param at Unix ms */
export const lineOf = ({ address, reason, email }: DriverBan, at: number): string =>
  `${Math.floor(at / 1000)} ban ${address} ${reason} [${encoded(email)}]\n`;

/** Matches such a line, and no other. */
export const FAILREGEX = String.raw`^\s*ban <ADDR> (?:limitIp|login|admin|driver) \[[A-Za-z0-9._@+%%-]*\]$`;
