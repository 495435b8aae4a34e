// The jobs that run now or ended a short time ago, above the list of clients.
import { useReader } from '../language/context.js';
import { useClosedJobs } from './closed-jobs.js';
import { JobCard } from './job-card.js';
import { recentJobs } from './progress.js';
import { useJobs } from './queries.js';

const MOST_SHOWN = 2;

export function RecentJobs() {
  const { say } = useReader();
  const jobs = useJobs().data ?? [];
  const { closed, close } = useClosedJobs();
  const shown = recentJobs(jobs, Date.now(), closed).slice(0, MOST_SHOWN);
  if (shown.length === 0) return null;
  return (
    <section className="job-list" aria-label={say('jobs.title')}>
      {shown.map((job) => (
        <JobCard key={job.id} job={job} close={() => close(job.id)} />
      ))}
    </section>
  );
}
