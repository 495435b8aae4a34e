// Does to the core what a dialog has asked for.
import { useMutation } from '@tanstack/react-query';
import { weir } from '../api/panel.js';
import { queries, statusQuery } from '../api/queries.js';
import { useReader } from '../language/context.js';
import { notify } from '../parts/notices.js';
import type { CoreAct } from './core-dialog.js';

export function useCoreAct(done: () => void) {
  const { say } = useReader();
  const work = useMutation({
    mutationFn: (chosen: CoreAct) =>
      chosen === 'stop' ? weir.server.stopEngine() : weir.server.restartEngine(),
    onSuccess: (_, chosen) => {
      notify(say(`core.done.${chosen}`));
      done();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: statusQuery.queryKey }),
  });
  return { work };
}
