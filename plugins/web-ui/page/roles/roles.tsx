// Roles: what each permits, and how many have it.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { ItemActions } from './item-actions.js';
import { readAgain, rolesQuery } from './queries.js';
import { RemoveSheet } from './remove-sheet.js';
import { RoleForm, type ShownRole } from './role-form.js';

export function Roles() {
  const { say, format } = useReader();
  const roles = useQuery(rolesQuery);
  const [edited, setEdited] = useState<ShownRole | 'new'>();
  const [removed, setRemoved] = useState<ShownRole>();
  const close = () => setEdited(undefined);
  return (
    <section className="card" aria-labelledby="roles">
      <div className="card-head">
        <h2 id="roles">{say('roles.list')}</h2>
        <Button className="button" onPress={() => setEdited('new')}>
          {say('roles.newRole')}
        </Button>
      </div>
      {roles.error && <Problem error={roles.error} retry={() => void roles.refetch()} />}
      {roles.isPending && <p className="muted">{say('loading')}</p>}
      {roles.data?.length === 0 && <p className="muted">{say('roles.none')}</p>}
      <ul className="system-list">
        {roles.data?.map((role) => (
          <li key={role.id} className="card" data-role={role.name}>
            <div className="card-head">
              <strong>
                <bdi>{shownName(role.name)}</bdi>
              </strong>
              <span className="muted">
                {say('roles.held', {
                  admins: format.number(role.admins),
                  tokens: format.number(role.tokens),
                })}
              </span>
            </div>
            {role.kind === 'groups' ? (
              <p className="muted">
                {say(role.level === 'write' ? 'groupRoles.writes' : 'groupRoles.reads', {
                  groups: role.groups.map(isolated).join(', '),
                })}
              </p>
            ) : role.permissions.length === 0 ? (
              <p className="muted">
                {say(role.kind === 'reseller' ? 'resellers.kindReseller' : 'roles.nothing')}
              </p>
            ) : (
              <p className="said" dir="ltr">
                {role.permissions.join(', ')}
              </p>
            )}
            <ItemActions name={role.name} edit={() => setEdited(role)} remove={() => setRemoved(role)} />
          </li>
        ))}
      </ul>
      <Sheet
        title={
          edited === undefined || edited === 'new'
            ? say('roles.newRole')
            : say('roles.editOf', { name: isolated(edited.name) })
        }
        isOpen={edited !== undefined}
        close={close}
      >
        {edited && <RoleForm role={edited} saved={readAgain} close={close} />}
      </Sheet>
      <RemoveSheet
        name={removed?.name}
        cost={say('roles.removeCost')}
        remove={() => (removed ? weir.roles.delete({ id: removed.id }) : Promise.resolve())}
        close={() => setRemoved(undefined)}
      />
    </section>
  );
}
