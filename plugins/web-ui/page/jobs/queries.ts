// The jobs on many clients, kept up to date by the live stream while they are shown.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isAbsent } from '../api/trouble.js';
import { live } from '../live/live.js';
import { GAP } from '../live/live-stream.js';
import { newest } from '../live/patches.js';
import { useLiveState } from '../live/use-live.js';
import { isOpen, type Job, withNews } from './progress.js';

const POLL_MS = 2_000;

/** Null where the plugin does not run. */
export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: async ({ signal }): Promise<Job[] | null> => {
    try {
      return await weir.bulkJobs.list({ signal });
    } catch (error) {
      if (isAbsent(error)) return null;
      throw error;
    }
  },
});

export function useJobs() {
  const isLive = useLiveState() === 'live';
  useEffect(() => {
    const ends = [
      live.on('client_jobs', (messages) => {
        const news = newest<readonly Job[] | null>(messages);
        if (news) queries.setQueryData<Job[] | null>(jobsQuery.queryKey, (known) => withNews(known, news));
      }),
      live.on(GAP, () => void queries.invalidateQueries({ queryKey: jobsQuery.queryKey })),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, []);
  return useQuery({
    ...jobsQuery,
    // Without the stream, somebody who waits for a job asks for it.
    refetchInterval: ({ state }) => (!isLive && state.data?.some(isOpen) ? POLL_MS : false),
  });
}
