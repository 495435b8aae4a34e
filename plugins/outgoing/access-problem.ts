// Checks what a plugin declares that it calls.
import { hostPatternOf } from './destination.js';
import { limitProblem } from './limits.js';
import { quotaProblem } from './quota.js';

interface Given {
  readonly hosts: unknown;
  readonly limits?: unknown;
  readonly quota?: unknown;
}

export function accessProblem(
  { hosts, limits, quota }: Given,
  { outside = false }: { readonly outside?: boolean },
): string | undefined {
  const over = quota === undefined ? undefined : quotaProblem(quota, outside);
  if (over !== undefined) return over;
  if (typeof hosts !== 'function' && !Array.isArray(hosts))
    return 'hosts must be a list of hosts, or a function that returns one';
  const wrong = Array.isArray(hosts) ? hosts.find((host) => !isHost(host)) : undefined;
  if (wrong !== undefined) return hostProblem(wrong);
  return limits === undefined ? undefined : limitProblem(limits);
}

export const isHost = (host: unknown): host is string =>
  typeof host === 'string' && hostPatternOf(host) !== undefined;

export const hostProblem = (host: unknown): string =>
  `the entry ${typeof host === 'string' ? 'of hosts that should be a host or a URL' : `of type ${typeof host} in hosts`} is not one: write example.com, *.example.com, an address, or one of these with :port`;
