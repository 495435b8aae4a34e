// Asks before something that cannot be undone.
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';

interface ConfirmSheetProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly run: () => Promise<unknown>;
}

export function ConfirmSheet({ title, children, isOpen, close, run }: ConfirmSheetProps) {
  const { say } = useReader();
  const act = useMutation({ mutationFn: run, onSuccess: close });
  return (
    <Sheet title={title} isOpen={isOpen} close={close} role="alertdialog">
      <p>{children}</p>
      {act.error && <Problem error={act.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button
          className="button risky"
          isPending={act.isPending}
          onPress={() => !act.isPending && act.mutate()}
        >
          {say('routing.delete')}
        </Button>
      </div>
    </Sheet>
  );
}
