// What the pages of hosts ask the panel for.
import { queryOptions } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';

export const hostsQuery = queryOptions({
  queryKey: ['hosts', 'list'],
  queryFn: ({ signal }) => weir.hosts.list({ signal }),
});
export const hostQuery = (groupId: string) =>
  queryOptions({
    queryKey: ['hosts', 'one', groupId],
    queryFn: ({ signal }) => weir.hosts.get({ groupId }, { signal }),
    // A form begins with what it gets first, so that must not be an earlier visit's.
    gcTime: 0,
  });
/** For names of the machines that a host is only for. */
export const machinesQuery = queryOptions({
  queryKey: ['hosts', 'machines'],
  queryFn: async ({ signal }) => {
    const nodes = await weir.nodes.list({ signal });
    return nodes.map(({ guid, name }) => ({ guid, name })).filter(({ guid }) => guid !== '');
  },
});
export const hostsChanged = (): Promise<void> => queries.invalidateQueries({ queryKey: ['hosts'] });
