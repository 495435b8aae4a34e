// What is done with an inbound besides editing it: its links, a copy, a file of it, its removal.
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, QrCode } from 'lucide-react';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { InboundsGetReply } from '../../../../sdk/index.js';
import { useMay } from '../api/rights.js';
import { useReader } from '../language/context.js';
import { saveFile } from '../parts/save-file.js';
import { LinksSheet } from './links-sheet.js';
import type { Plan } from './plan.js';
import { RemovalSheet } from './removal.js';

export function InboundActions({ stored, removal }: { stored: InboundsGetReply; removal: Plan }) {
  const { say } = useReader();
  const may = useMay();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'links' | 'removal'>();
  const close = () => setOpen(undefined);
  return (
    <div className="actions">
      <Button className="button" onPress={() => setOpen('links')}>
        <QrCode size={16} aria-hidden />
        {say('links.title')}
      </Button>
      <MenuTrigger>
        <Button className="button icon" aria-label={say('more')}>
          <Ellipsis size={20} aria-hidden />
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu className="menu">
            {may('inbounds:write') && may('clients:write') && (
              <MenuItem
                onAction={() => void navigate({ to: '/inbound/new', search: { from: String(stored.id) } })}
              >
                {say('inbounds.duplicate')}
              </MenuItem>
            )}
            <MenuItem
              onAction={() =>
                saveFile(`${stored.tag}.json`, JSON.stringify(stored, null, 2), 'application/json')
              }
            >
              {say('inbounds.export')}
            </MenuItem>
            {may('inbounds:write') && (
              <MenuItem className="risky" onAction={() => setOpen('removal')}>
                {say('delete.title')}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {open === 'links' && <LinksSheet inbound={stored} close={close} />}
      {open === 'removal' && <RemovalSheet stored={stored} plan={removal} close={close} />}
    </div>
  );
}
