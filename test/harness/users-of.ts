// Which plugins need others.
import type { Plugin } from '../../kernel/plugin/define.js';

/** Those of `plugins` that need this one, and those that need them, sorted. */
export function usersOf(name: string, plugins: readonly Plugin[]): string[] {
  const direct = plugins.filter(({ uses }) =>
    Object.values(uses).some((used) => used.kind === 'token' && used.owner === name),
  );
  return [...new Set(direct.flatMap((user) => [user.name, ...usersOf(user.name, plugins)]))].sort();
}
