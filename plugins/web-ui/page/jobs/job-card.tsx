// One job on many clients: how far it is, a way to stop it, and what came of it.
import { useMutation } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { Button } from 'react-aria-components';
import { panelUrl, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Meter } from '../parts/meter.js';
import { notifyTrouble } from '../parts/notices.js';
import { isOpen, type Job, leftOf, shareOf } from './progress.js';
import { jobsQuery } from './queries.js';
import './jobs.css';

export function JobCard({ job, close }: { job: Job; close?: () => void }) {
  const { say, format } = useReader();
  const { id, action, state, total, done, changed, unchanged, skipped, failed, reasons, problem, by } = job;
  const open = isOpen(job);
  const left = leftOf(job);
  const settled = {
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: jobsQuery.queryKey }),
  };
  const stop = useMutation({ mutationFn: () => weir.bulkJobs.stop({ id }), ...settled });
  const retry = useMutation({
    mutationFn: () => weir.bulkJobs.retry({ id }),
    onSuccess: () => close?.(),
    ...settled,
  });
  const title = say(`jobs.action.${action}`, { count: total });
  return (
    <article className="job" data-state={state} aria-label={title}>
      <div className="job-head">
        <strong>{title}</strong>
        <span className="muted">
          {say(`jobs.state.${state}`)} · <bdi>{shownName(by.name)}</bdi> · {format.moment(job.createdAt)}
        </span>
      </div>
      {open && <Meter share={shareOf(job)} label={title} />}
      <p role="status" className="number">
        {open
          ? say('jobs.progress', { done, total })
          : say('jobs.result', { changed, unchanged, skipped, failed, left: Math.max(0, total - done) })}
      </p>
      {problem !== '' && (
        <p className="said" dir="auto">
          {problem}
        </p>
      )}
      {reasons.length > 0 && (
        <ul className="job-reasons">
          {reasons.map(({ outcome, code, reason, count }) => (
            <li key={`${outcome} ${code} ${reason}`}>
              <span>{say(`jobs.outcome.${outcome}`, { count })}</span> <bdi className="muted">{reason}</bdi>
            </li>
          ))}
        </ul>
      )}
      <div className="actions">
        {open && (
          <Button
            className="button small"
            isPending={stop.isPending}
            isDisabled={state === 'stopping'}
            onPress={() => stop.mutate()}
          >
            {say('jobs.stop')}
          </Button>
        )}
        {!open && left > 0 && (
          <Button className="button small" isPending={retry.isPending} onPress={() => retry.mutate()}>
            {say('jobs.retry', { count: left })}
          </Button>
        )}
        {!open && job.listed > 0 && (
          <a
            className="button small"
            download={`job-${id}.csv`}
            href={new URL(`panel/api/x/jobs/${id}/skipped.csv`, panelUrl).href}
          >
            {say('jobs.csv')}
          </a>
        )}
        {!open && close && (
          <Button className="button small quiet" onPress={close}>
            <X size={16} aria-hidden />
            {say('close')}
          </Button>
        )}
      </div>
    </article>
  );
}
