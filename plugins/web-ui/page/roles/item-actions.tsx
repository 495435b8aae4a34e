// What is done with an admin or a role of the list.
import { Button } from 'react-aria-components';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';

export interface ItemActionsProps {
  readonly name: string;
  readonly edit: () => void;
  readonly remove: () => void;
}

export function ItemActions({ name, edit, remove }: ItemActionsProps) {
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
