// Which columns the list has; a preference of the admin.
import { Columns3 } from 'lucide-react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { preferencesStore, useReader } from '../language/context.js';
import { ALL_COLUMNS, type Column, preferenceOf } from './columns.js';

export function ColumnChoice({ columns }: { readonly columns: readonly Column[] }) {
  const { say } = useReader();
  return (
    <MenuTrigger>
      <Button className="button small column-choice">
        <Columns3 size={16} aria-hidden />
        {say('columns.choose')}
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu
          className="menu"
          aria-label={say('columns.choose')}
          selectionMode="multiple"
          selectedKeys={columns}
          onSelectionChange={(chosen) =>
            preferencesStore.write({
              clientColumns: preferenceOf(chosen === 'all' ? ALL_COLUMNS : (chosen as Set<Column>)),
            })
          }
        >
          {ALL_COLUMNS.map((column) => (
            <MenuItem key={column} id={column} className="checked-item">
              {say(`column.${column}`)}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
