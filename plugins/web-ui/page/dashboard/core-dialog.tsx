// What a restart, a stop or a start of the core costs, before it is done.
import { useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { summaryQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';

export type CoreAct = 'restart' | 'stop' | 'start';

export interface CoreDialogProps {
  readonly act: CoreAct | undefined;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly run: (act: CoreAct) => void;
  readonly close: () => void;
}

export function CoreDialog({ act, isBusy, error, run, close }: CoreDialogProps) {
  const { say } = useReader();
  return (
    <Sheet
      title={act ? say(`core.ask.${act}`) : ''}
      isOpen={act !== undefined}
      {...(!isBusy && { close })}
      role="alertdialog"
    >
      {act && (
        <>
          <Cost act={act} />
          {error !== null && <Problem error={error} />}
          <div className="actions end">
            <Button className="button" onPress={close} isDisabled={isBusy}>
              {say('cancel')}
            </Button>
            <Button
              className={act === 'start' ? 'button main' : 'button risky'}
              isPending={isBusy}
              onPress={() => run(act)}
            >
              {say(`core.act.${act}`)}
            </Button>
          </div>
        </>
      )}
    </Sheet>
  );
}

function Cost({ act }: { act: CoreAct }) {
  const { say } = useReader();
  const online = useQuery(summaryQuery).data?.onlineCount ?? 0;
  const plan = useQuery({
    queryKey: ['engine', 'plan'],
    queryFn: ({ signal }) => weir.engine.plan({ signal }),
    staleTime: 0,
    enabled: act !== 'stop',
  });
  const changed = plan.data
    ? [...plan.data.inbounds.put, ...plan.data.outbounds.put, ...plan.data.sections]
    : [];
  return (
    <div className="stack">
      <p>{say(`core.cost.${act}`, { count: online })}</p>
      {act === 'restart' && changed.length > 0 && (
        <p className="muted">
          {say('core.takesUp')} <bdi dir="ltr">{changed.slice(0, 8).join(', ')}</bdi>
        </p>
      )}
    </div>
  );
}
