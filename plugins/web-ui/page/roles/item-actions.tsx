// What is done with an admin or a role of the list.
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';

export interface ItemActionsProps {
  readonly name: string;
  readonly edit: () => void;
  readonly remove: () => void;
  readonly children?: ReactNode;
}

export function ItemActions({ name, edit, remove, children }: ItemActionsProps) {
  const { say } = useReader();
  return (
    <div className="actions">
      <Button
        className="button small"
        aria-label={say('roles.editOf', { name: isolated(name) })}
        onPress={edit}
      >
        {say('edit')}
      </Button>
      {children}
      <Button
        className="button risky small"
        aria-label={say('system.removeOf', { name: isolated(name) })}
        onPress={remove}
      >
        {say('remove')}
      </Button>
    </div>
  );
}
