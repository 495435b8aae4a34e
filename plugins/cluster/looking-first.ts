// Calls that change something are planned with memory, so it is brought up to date before them: another panel may have
// changed the same a moment ago.
import type { Mounted, Route, RouteAdapter } from '../../kernel/index.js';
import type { Member } from './member.js';

const adapted = (route: Route, look: () => Promise<void>): Route => {
  if (route.method === 'GET') return route;
  const handle = route.handle as unknown as (input: never) => unknown;
  return {
    ...route,
    handle: (async (input: never) => {
      await look();
      return handle(input);
    }) as unknown as Route['handle'],
  };
};

export const lookingFirst =
  (member: Pick<Member, 'look'>): RouteAdapter =>
  (routes: readonly Mounted[]) =>
    routes.map(({ owner, route }) => ({ owner, route: adapted(route, () => member.look()) }));
