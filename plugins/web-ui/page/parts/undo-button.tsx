// Undoes one entry of the record of changes; why it is refused is shown by the caller.
import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { notify } from './notices.js';

export interface UndoButtonProps {
  readonly entry: number;
  /** Unix ms of the change */
  readonly at: number;
  readonly failed: (error: unknown) => void;
  readonly settled: () => void;
}

export function UndoButton({ entry, at, failed, settled }: UndoButtonProps) {
  const { say, format } = useReader();
  const undo = useMutation({
    mutationFn: () => weir.audit.undo({ entry }),
    onSuccess: () => notify(say('undo.done')),
    onError: failed,
    onSettled: settled,
  });
  return (
    <Button
      className="button small"
      aria-label={say('undo.of', { time: format.moment(at) })}
      isPending={undo.isPending}
      onPress={() => undo.mutate()}
    >
      {say('undo')}
    </Button>
  );
}
