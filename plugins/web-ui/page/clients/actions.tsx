// What is done with a client most: renew it, edit it, delete it.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CalendarPlus, Ellipsis, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useIsRunning } from '../api/running.js';
import { gigabyte } from '../format/bytes.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { doUndoable } from './undo.js';

const DAYS = [7, 30, 90] as const;
const GIGABYTES = [10, 50, 100] as const;

export function Actions({ client, edit }: { client: ClientsGetReply; edit: () => void }) {
  const { say, format } = useReader();
  const { id, email, expiryTime, totalGB } = client;
  const [isDeleting, setDeleting] = useState(false);
  const extend = useMutation({
    mutationFn: (more: { addDays?: number; addBytes?: number }) =>
      doUndoable(
        id,
        async () => {
          const { skipped } = await weir.clients.bulkAdjust({ body: { emails: [email], ...more } });
          if (skipped[0]) throw new Error(skipped[0].reason);
        },
        say,
        say('extend.done'),
      ),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: ['client', email] }),
  });
  const reset = useMutation({
    mutationFn: () => weir.clients.resetTraffic({ email }),
    onSuccess: () => notify(say('reset.done')),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: ['client', email] }),
  });
  const navigate = useNavigate();
  const hasUndo = useIsRunning()('audit');
  const remove = useMutation({
    mutationFn: () =>
      doUndoable(
        id,
        () => weir.clients.delete({ email }),
        say,
        say('delete.done', { name: isolated(email) }),
      ),
    onSuccess: async () => {
      setDeleting(false);
      await navigate({ to: '/clients', search: {} });
      queries.removeQueries({ queryKey: ['client', email] });
      void queries.invalidateQueries({ queryKey: ['clients'] });
    },
    onError: (error) => hasUndo && notifyTrouble(error),
  });
  const unit = gigabyte(format.units);
  return (
    <div className="actions">
      <MenuTrigger>
        <Button className="button" isDisabled={extend.isPending}>
          <CalendarPlus size={16} aria-hidden />
          {say('extend.title')}
        </Button>
        <Popover className="popover">
          <Menu className="menu">
            {expiryTime !== 0 &&
              DAYS.map((days) => (
                <MenuItem key={days} onAction={() => extend.mutate({ addDays: days })}>
                  {say('extend.days', { count: days })}
                </MenuItem>
              ))}
            {totalGB > 0 &&
              GIGABYTES.map((count) => (
                <MenuItem key={`${count} bytes`} onAction={() => extend.mutate({ addBytes: count * unit })}>
                  {say('extend.bytes', { amount: format.bytes(count * unit) })}
                </MenuItem>
              ))}
            <MenuItem onAction={() => reset.mutate()}>{say('reset.title')}</MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      <Button className="button" onPress={edit}>
        <Pencil size={16} aria-hidden />
        {say('edit')}
      </Button>
      <MenuTrigger>
        <Button className="button icon" aria-label={say('more')}>
          <Ellipsis size={20} aria-hidden />
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu className="menu">
            <MenuItem className="risky" onAction={() => (hasUndo ? remove.mutate() : setDeleting(true))}>
              {say('delete.title')}
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      <DeleteDialog email={email} remove={remove} isOpen={isDeleting} close={() => setDeleting(false)} />
    </div>
  );
}

interface DeleteDialogProps {
  readonly email: string;
  readonly remove: { readonly error: unknown; readonly isPending: boolean; readonly mutate: () => void };
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** Where no audit runs there is no way back, so it asks. */
function DeleteDialog({ email, remove, isOpen, close }: DeleteDialogProps) {
  const { say } = useReader();
  return (
    <Sheet title={say('delete.ask')} isOpen={isOpen} close={close} role="alertdialog">
      <p>{say('delete.cost', { name: isolated(email) })}</p>
      {remove.error !== null && <Problem error={remove.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button className="button risky" isPending={remove.isPending} onPress={() => remove.mutate()}>
          {say('delete.title')}
        </Button>
      </div>
    </Sheet>
  );
}
