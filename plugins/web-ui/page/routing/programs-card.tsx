// Inbounds that programs run in place of the core: whether each runs, and why not.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Switch } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { inboundsQuery, queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ConfirmSheet } from './confirm-sheet.js';
import { listsChanged } from './queries.js';
import { programsQuery } from './tunnel-queries.js';
import { inboundsInPrograms, isRunning, type ProgramInbound, reasonOf } from './tunnel-words.js';

const changed = (): Promise<void> =>
  Promise.all([queries.invalidateQueries({ queryKey: inboundsQuery.queryKey }), listsChanged()]).then(
    () => undefined,
  );

export function ProgramsCard() {
  const { say } = useReader();
  const programs = useQuery(programsQuery);
  const inbounds = useQuery(inboundsQuery);
  if (programs.data === null) return null;
  const error = programs.error ?? inbounds.error;
  const rows = inboundsInPrograms(inbounds.data ?? [], programs.data ?? []);
  return (
    <section className="card" aria-labelledby="programs">
      <div className="card-head">
        <h3 id="programs">{say('routing.programs')}</h3>
        <Link to="/inbound/new" className="button">
          {say('routing.programs.add')}
        </Link>
      </div>
      <p className="hint">{say('routing.programs.are')}</p>
      {error && <Problem error={error} />}
      {rows.length === 0 && <p className="muted">{say('routing.programs.none')}</p>}
      <ul className="routing-list">
        {rows.map((row) => (
          <Row key={row.inbound.id} {...row} />
        ))}
      </ul>
    </section>
  );
}

function Row({ inbound: { id, remark, protocol, port, enable }, program }: ProgramInbound) {
  const { say, format } = useReader();
  const [isDeleting, setDeleting] = useState(false);
  const name = shownName(remark) || `${protocol} ${port}`;
  const change = useMutation({
    mutationFn: (on: boolean) => weir.inbounds.setEnable({ id, body: { enable: on } }),
    onError: notifyTrouble,
    onSettled: changed,
  });
  const runs = program && isRunning(program);
  return (
    <li className="routing-program">
      <div className="card-head">
        <div className="routing-name">
          <Link to="/inbound" search={{ id: String(id) }}>
            <bdi>{name}</bdi>
          </Link>
          <span className="tag">{shownName(protocol)}</span>
        </div>
        <div className="actions">
          <Switch
            className="switch"
            data-pending={change.isPending || undefined}
            aria-label={say('routing.list.switch', { name })}
            isSelected={change.isPending ? change.variables : enable}
            isDisabled={change.isPending}
            onChange={(on) => change.mutate(on)}
          >
            <span className="switch-track" aria-hidden />
          </Switch>
          <Button
            className="button small"
            aria-label={say('routing.deleteOf', { tag: name })}
            onPress={() => setDeleting(true)}
          >
            {say('routing.delete')}
          </Button>
        </div>
      </div>
      <p className="routing-result" data-level={program && (runs ? 'good' : 'bad')} role="status">
        {program && <span className="dot" aria-hidden />}
        {!program && say(enable ? 'routing.programs.unknown' : 'routing.programs.off')}
        {program &&
          (runs
            ? say('routing.programs.runs', { time: format.distance(program.since, Date.now()) })
            : say('routing.programs.fails'))}
      </p>
      {program && !runs && (
        <p className="said" dir="auto">
          {reasonOf(program)}
        </p>
      )}
      {program && program.problem !== '' && (
        <p className="said" dir="auto">
          {program.problem}
        </p>
      )}
      {runs && !program.live && <p className="hint">{say('routing.programs.restarts')}</p>}
      <ConfirmSheet
        title={say('routing.programs.deleteAsk')}
        isOpen={isDeleting}
        close={() => setDeleting(false)}
        run={async () => {
          await weir.inbounds.delete({ id });
          await changed();
          notify(say('routing.list.deleted', { name: isolated(name) }));
        }}
      >
        {say('routing.programs.deleteCost', { name: isolated(name) })}
      </ConfirmSheet>
    </li>
  );
}
