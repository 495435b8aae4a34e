// Asks before an admin, a role or a second factor is removed, and says why it cannot be.
import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { readAgain } from './queries.js';

export interface RemoveSheetProps {
  /** undefined while nothing is to be removed */
  readonly name: string | undefined;
  readonly cost: string;
  /** Without it: to remove what has this name. */
  readonly title?: string;
  readonly act?: string;
  readonly remove: () => Promise<unknown>;
  readonly close: () => void;
}

export function RemoveSheet({ name, cost, title, act, remove, close }: RemoveSheetProps) {
  const { say } = useReader();
  const work = useMutation({ mutationFn: remove, onSuccess: close, onSettled: readAgain });
  const leave = () => {
    work.reset();
    close();
  };
  return (
    <Sheet
      title={title ?? say('system.removeOf', { name: isolated(name ?? '') })}
      isOpen={name !== undefined}
      close={leave}
      role="alertdialog"
    >
      <p>{cost}</p>
      {work.error && <Problem error={work.error} />}
      <div className="actions end">
        <Button className="button" onPress={leave}>
          {say('cancel')}
        </Button>
        <Button className="button risky" isPending={work.isPending} onPress={() => work.mutate()}>
          {act ?? say('remove')}
        </Button>
      </div>
    </Sheet>
  );
}
