// The state of the core, and what an admin can do with it. Each act says first what it costs.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { statusQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { useCoreAct } from './core-act.js';
import { type CoreAct, CoreDialog } from './core-dialog.js';

const SECOND = 1000;

export function CorePanel() {
  const { say, format } = useReader();
  const { data: status } = useQuery(statusQuery);
  const [act, setAct] = useState<CoreAct>();
  const { work } = useCoreAct(() => setAct(undefined));
  if (!status) return null;
  const { state, version, usersOnTheWay } = status.engine;
  const begin = (chosen: CoreAct) => {
    work.reset();
    setAct(chosen);
  };
  const uptime = status.appStats.uptime * SECOND;
  return (
    <section className="card" aria-labelledby="core">
      <h2 id="core">{say('core.title')}</h2>
      <p className="state" data-state={state}>
        <span className="dot" aria-hidden />
        <strong>{say(`core.state.${state}`)}</strong>
      </p>
      <p className="muted">
        {version !== '' && <bdi dir="ltr">{version}</bdi>}
        {state === 'running' && uptime > 0 && <> · {say('core.uptime', { time: format.duration(uptime) })}</>}
        {usersOnTheWay > 0 && <> · {say('core.usersOnTheWay', { count: usersOnTheWay })}</>}
      </p>
      <div className="actions">
        {state === 'running' ? (
          <>
            <Button className="button" onPress={() => begin('restart')}>
              {say('core.act.restart')}
            </Button>
            <Button className="button" onPress={() => begin('stop')}>
              {say('core.act.stop')}
            </Button>
          </>
        ) : (
          <Button className="button main" onPress={() => begin('start')}>
            {say('core.act.start')}
          </Button>
        )}
      </div>
      <CoreDialog
        act={act}
        isBusy={work.isPending}
        error={work.error}
        run={(chosen) => work.mutate(chosen)}
        close={() => setAct(undefined)}
      />
    </section>
  );
}
