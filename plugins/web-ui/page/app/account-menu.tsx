// The menu of the admin: keys, the page of the API, the end of the session.
import { useNavigate } from '@tanstack/react-router';
import { CircleUserRound } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { panelUrl, session } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';

export function AccountMenu({ hasApiPage, showKeys }: { hasApiPage: boolean; showKeys: () => void }) {
  const { say } = useReader();
  const state = useSyncExternalStore(session.subscribe, session.state);
  const navigate = useNavigate();
  const name = state.kind === 'in' || state.kind === 'ended' ? state.name : '';
  const logOut = () => session.logOut().catch(notifyTrouble);
  return (
    <MenuTrigger>
      <Button className="button quiet account" aria-label={say('account.label', { name: shownName(name) })}>
        <CircleUserRound size={20} aria-hidden />
        <bdi className="clip">{shownName(name)}</bdi>
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu">
          <MenuItem onAction={showKeys}>{say('account.keys')}</MenuItem>
          <MenuItem onAction={() => void navigate({ to: '/system/access' })}>{say('system.access')}</MenuItem>
          <MenuItem onAction={() => void navigate({ to: '/system/plugins' })}>
            {say('system.plugins')}
          </MenuItem>
          {hasApiPage && (
            <MenuItem href={new URL('panel/x/api-docs/', panelUrl).href} target="_blank" rel="noreferrer">
              {say('account.api')}
            </MenuItem>
          )}
          <MenuItem onAction={() => void logOut()}>{say('account.logOut')}</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
