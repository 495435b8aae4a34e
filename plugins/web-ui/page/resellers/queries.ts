// What the page of resellers asks the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';

export const resellersQuery = queryOptions({
  queryKey: ['resellers'],
  queryFn: ({ signal }) => weir.resellers.list({ signal }),
});
export const readResellersAgain = (): void => void queries.invalidateQueries({ queryKey: ['resellers'] });
