// The list of what needs the admin; a line that all is well where it is empty.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import {
  alarmsQuery,
  backupQuery,
  certificatesQuery,
  pluginsQuery,
  statusQuery,
  summaryQuery,
} from '../api/queries.js';
import { useReader } from '../language/context.js';
import { viewOf } from '../clients/view.js';
import { Problem } from '../parts/problem.js';
import { type Need, needsOf } from './needs.js';

export function NeedsList() {
  const { say } = useReader();
  const summary = useQuery(summaryQuery);
  const plugins = useQuery(pluginsQuery);
  const alarms = useQuery(alarmsQuery);
  const backup = useQuery(backupQuery);
  const certificates = useQuery(certificatesQuery);
  const status = useQuery(statusQuery);
  const all = [summary, plugins, alarms, backup, certificates, status];
  const failed = all.find(({ error }) => error !== null);
  const needs = needsOf({
    now: Date.now(),
    summary: summary.data,
    plugins: plugins.data,
    alarms: alarms.data,
    backup: backup.data,
    certificates: certificates.data,
    core: status.data?.engine,
  });
  const retry = () => {
    for (const one of all) if (one.error) void one.refetch();
  };
  const isReady = all.every(({ isPending }) => !isPending);
  return (
    <section className="needs" aria-labelledby="needs">
      <h2 id="needs">{say('needs.title')}</h2>
      {failed && <Problem error={failed.error} retry={retry} />}
      {needs.length > 0 && (
        <ul>
          {needs.map((need) => (
            <NeedLine key={need.key} need={need} />
          ))}
        </ul>
      )}
      {needs.length === 0 && isReady && !failed && (
        <p className="all-well">
          <CircleCheck size={20} aria-hidden />
          {say('needs.none')}
        </p>
      )}
      {!isReady && !failed && needs.length === 0 && <p className="muted">{say('loading')}</p>}
    </section>
  );
}

function NeedLine({ need }: { need: Need }) {
  const { say } = useReader();
  const Icon = need.level === 'bad' ? CircleX : TriangleAlert;
  const text = say(need.text, need.values);
  return (
    <li data-level={need.level}>
      <Icon size={20} aria-hidden />
      <div>
        {need.status && (
          <Link to="/clients" search={viewOf({ status: need.status })}>
            {text}
          </Link>
        )}
        {need.page && <Link to={need.page}>{text}</Link>}
        {!need.status && !need.page && <span>{text}</span>}
        {need.said && (
          <span className="said" dir="auto">
            {need.said}
          </span>
        )}
      </div>
    </li>
  );
}
