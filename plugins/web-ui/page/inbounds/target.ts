// The target of REALITY in its settings: what a scan asks for, and what it fills in.
import type { Values } from '../forms/schema.js';

/** `dest` is another name of it. */
export const targetOf = ({ target, dest }: Values): string => String(target ?? dest ?? '').trim();

/** As the core would reach it. A port alone is one of this machine. */
export function scanBodyOf({ xver }: Values, target: string) {
  const isPort = /^\d{1,5}$/.test(target);
  return {
    target: isPort ? `127.0.0.1:${target}` : target,
    ...([1, 2].includes(Number(xver)) && { xver: Number(xver) }),
  };
}

interface Found {
  readonly target: string;
  readonly host: string;
  readonly serverNames: readonly string[];
}

/** The name that was asked for, then others of its certificate: clients may use each. */
export function withTarget(values: Values, { target, host, serverNames }: Found): Values {
  const { dest: _, ...rest } = values;
  const isName = /[a-z]/i.test(host) && !host.includes(':');
  const names = [...new Set([...(isName ? [host] : []), ...serverNames])].slice(0, 5);
  return { ...rest, target, ...(names.length > 0 && { serverNames: names }) };
}
