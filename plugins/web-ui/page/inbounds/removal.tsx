// Deletes an inbound. What it holds is imported again by an undo; where something would be lost for good, it asks first.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import type { InboundsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import type { Values } from '../forms/schema.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { Say } from '../language/messages.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { type Loss, lossesOf } from './copying.js';
import type { Plan } from './plan.js';
import { PlanLine } from './plan-line.js';
import { heldQuery } from './queries.js';

const refresh = (): void => void queries.invalidateQueries({ queryKey: ['inbounds'] });

/** Offered again when it fails: what was deleted is only here. */
function offerUndo(stored: InboundsGetReply, text: string, say: Say): void {
  notify(text, {
    text: say('undo'),
    run: () => {
      weir.inbounds
        .import({ body: { data: stored } })
        .then(
          () => notify(say('undo.done')),
          (error: unknown) => {
            notifyTrouble(error);
            offerUndo(stored, text, say);
          },
        )
        .finally(refresh);
    },
  });
}

export interface RemovalProps {
  readonly stored: InboundsGetReply;
  readonly plan: Plan;
  readonly close: () => void;
}

export function RemovalSheet({ stored, plan, close }: RemovalProps) {
  const { say } = useReader();
  const navigate = useNavigate();
  const { id, remark, tag } = stored;
  const held = useQuery(heldQuery(id));
  const losses: readonly Loss[] = held.data ? lossesOf(stored as unknown as Values, held.data) : [];
  const name = isolated(remark || tag);
  const remove = useMutation({
    mutationFn: async () => {
      // As it is now, with the clients and counters of now.
      const last = await weir.inbounds.get({ id });
      await weir.inbounds.delete({ id });
      return last;
    },
    onSuccess: async (last) => {
      close();
      await navigate({ to: '/inbounds' });
      queries.removeQueries({ queryKey: ['inbounds', 'one', id] });
      refresh();
      const text = say('inbounds.deleted', { name });
      if (losses.length > 0) notify(text);
      else offerUndo(last, text, say);
    },
  });
  return (
    <Sheet title={say('inbounds.deleteAsk', { name })} isOpen close={close} role="alertdialog">
      <p>{say('inbounds.deleteKeeps')}</p>
      <p>
        <PlanLine plan={plan} id={id} />
      </p>
      {held.error && <Problem error={held.error} retry={() => void held.refetch()} />}
      {losses.map((loss) => (
        <p key={loss}>{say(`inbounds.loss.${loss}`)}</p>
      ))}
      {held.data && <p className="hint">{say(losses.length > 0 ? 'inbounds.noUndo' : 'inbounds.hasUndo')}</p>}
      {remove.error && <Problem error={remove.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button
          className="button risky"
          isPending={remove.isPending}
          isDisabled={!held.data}
          onPress={() => remove.mutate()}
        >
          {say('delete.title')}
        </Button>
      </div>
    </Sheet>
  );
}
