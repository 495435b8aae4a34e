// What the page of admins and roles asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';

export const adminsQuery = queryOptions({
  queryKey: ['roles', 'admins'],
  queryFn: ({ signal }) => weir.admins.list({ signal }),
});
export const rolesQuery = queryOptions({
  queryKey: ['roles', 'roles'],
  queryFn: ({ signal }) => weir.roles.list({ signal }),
});
export const resourcesQuery = queryOptions({
  queryKey: ['roles', 'resources'],
  queryFn: ({ signal }) => weir.roles.resources({ signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** An admin counts in the roles, and what an admin made is gone with the admin. */
export const readAgain = (): void => {
  void queries.invalidateQueries({ queryKey: ['roles'] });
  void queries.invalidateQueries({ queryKey: ['access'] });
};
