// The target of REALITY in its settings: what a scan asks for, and what it fills in.
import type { Values } from '../forms/schema.js';

/** `dest` is another name of it. */
export const targetOf = ({ target, dest }: Values): string => String(target ?? dest ?? '').trim();

const LOCAL = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const ADDRESS = /^[\d.:[\]]+$/;

/** As the core would reach it: a port alone is one of this machine, where the reader wants it to look. */
export function scanBodyOf({ xver, serverNames }: Values, target: string) {
  const place = /^\d{1,5}$/.test(target) ? `127.0.0.1:${target}` : target;
  const name: unknown = Array.isArray(serverNames) ? serverNames[0] : undefined;
  const isNamed = (ADDRESS.test(place) || LOCAL.test(place)) && typeof name === 'string' && name !== '';
  return {
    target: place,
    ...(isNamed && { sni: name }),
    ...([1, 2].includes(Number(xver)) && { xver: Number(xver) }),
    ...(LOCAL.test(place) && { allowPrivate: true }),
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
