// Which plugins run, so that what needs one is offered only then.
import { useQuery } from '@tanstack/react-query';
import { pluginsQuery } from './queries.js';

/** Returns what says whether a plugin runs; `unknown` is said until the panel has answered. Who may not ask gets yes: what does not run answers so itself. */
export function useIsRunning(): (plugin: string, unknown?: boolean) => boolean {
  const plugins = useQuery(pluginsQuery).data;
  return (plugin, unknown = false) =>
    plugins === null ||
    (plugins?.some(({ name, state }) => name === plugin && state === 'running') ?? unknown);
}
