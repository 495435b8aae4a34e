// One group: its clients, what they used, and what is done with them.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useId, useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { ClientsGroupsListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { BulkBar } from '../clients/bulk-bar.js';
import { sizeOf } from '../clients/selection.js';
import { viewOf } from '../clients/view.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { AddClients } from './add-clients.js';
import { deleteGroup } from './deletion.js';
import { filterSelection, isExactFilter, membersOf, namedSelection } from './members.js';
import { NameForm } from './name-form.js';
import { emailsQuery, groupsChanged } from './queries.js';

type Group = ClientsGroupsListReply[number];
export interface GroupCardProps {
  readonly group: Group;
  /** of all groups */
  readonly names: readonly string[];
  readonly hasJobs: boolean;
}

export function GroupCard({ group, names, hasJobs }: GroupCardProps) {
  const { say, format } = useReader();
  const { name, clientCount, trafficUsed, up, down } = group;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<'rename' | 'add'>();
  const reset = useMutation({
    mutationFn: () => weir.clients.groups.resetTraffic({ body: { name } }),
    onSuccess: () => notify(say('groups.reset', { name: isolated(name) })),
    onError: notifyTrouble,
    onSettled: groupsChanged,
  });
  const remove = useMutation({
    mutationFn: () => deleteGroup(name),
    onSuccess: (undo) =>
      notify(say('groups.deleted', { name: isolated(name) }), {
        text: say('undo'),
        run: () =>
          void undo()
            .then(() => notify(say('undo.done')), notifyTrouble)
            .finally(groupsChanged),
      }),
    onError: notifyTrouble,
    onSettled: groupsChanged,
  });
  const close = () => setAsked(undefined);
  const members = say('groups.clients', { count: clientCount });
  return (
    <li className="card group" data-group={name} aria-labelledby={id}>
      <div className="group-head">
        <div className="group-facts">
          <h2 id={id}>
            <bdi>{shownName(name)}</bdi>
          </h2>
          <span className="actions">
            {isExactFilter(name, names) ? (
              <Link to="/clients" search={viewOf({ group: name })}>
                {members}
              </Link>
            ) : (
              <span>{members}</span>
            )}
            <span className="muted">
              {say('groups.used', {
                all: format.bytes(trafficUsed),
                up: format.bytes(up),
                down: format.bytes(down),
              })}
            </span>
          </span>
        </div>
        <div className="actions">
          <Button
            className="button"
            aria-label={say('groups.addTo', { name: isolated(name) })}
            onPress={() => setAsked('add')}
          >
            {say('groups.add')}
          </Button>
          {hasJobs && clientCount > 0 && (
            <Button
              className="button"
              aria-expanded={isOpen}
              aria-label={say('groups.changeOf', { name: isolated(name) })}
              onPress={() => setOpen(!isOpen)}
            >
              {say('groups.change')}
            </Button>
          )}
          <MenuTrigger>
            <Button className="button icon" aria-label={say('groups.moreOf', { name: isolated(name) })}>
              <Ellipsis size={20} aria-hidden />
            </Button>
            <Popover className="popover" placement="bottom end">
              <Menu className="menu">
                <MenuItem onAction={() => setAsked('rename')}>{say('groups.rename')}</MenuItem>
                <MenuItem onAction={() => reset.mutate()}>{say('groups.resetTraffic')}</MenuItem>
                <MenuItem className="risky" onAction={() => !remove.isPending && remove.mutate()}>
                  {say('groups.delete')}
                </MenuItem>
              </Menu>
            </Popover>
          </MenuTrigger>
        </div>
      </div>
      {isOpen && clientCount > 0 && <GroupJobs group={group} names={names} close={() => setOpen(false)} />}
      <Sheet title={say('groups.rename')} isOpen={asked === 'rename'} close={close}>
        {asked === 'rename' && <NameForm before={name} names={names} close={close} />}
      </Sheet>
      <Sheet title={say('groups.addTo', { name: isolated(name) })} isOpen={asked === 'add'} close={close}>
        {asked === 'add' && <AddClients group={name} close={close} />}
      </Sheet>
    </li>
  );
}

/** By the filter of the list where that finds just this group; otherwise by the names of its clients. */
function GroupJobs({ group, names, close }: { group: Group; names: readonly string[]; close: () => void }) {
  const { say } = useReader();
  const { kind } = membersOf(group, names);
  const emails = useQuery({ ...emailsQuery(group.name), enabled: kind === 'named' });
  if (kind === 'none') return <p className="hint">{say('groups.tooMany')}</p>;
  if (emails.error) return <Problem error={emails.error} retry={() => void emails.refetch()} />;
  if (kind === 'named' && !emails.data) return <p role="status">{say('loading')}</p>;
  const selection = kind === 'named' ? namedSelection(emails.data ?? []) : filterSelection;
  return (
    <BulkBar
      view={viewOf({ group: group.name })}
      selection={selection}
      count={kind === 'named' ? sizeOf(selection, 0) : group.clientCount}
      clear={close}
    />
  );
}
