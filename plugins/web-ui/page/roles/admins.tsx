// Admins: added, given a role, switched off, removed; and what one of them has lost.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { Button, Switch } from 'react-aria-components';
import { session, weir } from '../api/panel.js';
import { nameIn } from '../api/session.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { passkeysQuery } from '../system/queries.js';
import { AdminForm, type ShownAdmin } from './admin-form.js';
import { ItemActions } from './item-actions.js';
import { adminsQuery, readAgain, rolesQuery } from './queries.js';
import { RemoveSheet } from './remove-sheet.js';

export function Admins() {
  const { say, format } = useReader();
  const admins = useQuery(adminsQuery);
  const roles = useQuery(rolesQuery);
  const [edited, setEdited] = useState<ShownAdmin | 'new'>();
  const [removed, setRemoved] = useState<ShownAdmin>();
  const [reset, setReset] = useState<ShownAdmin>();
  const [lost, setLost] = useState<ShownAdmin>();
  /** Without the plugin, or for who may not ask, there is nothing to remove. */
  const hasPasskeys = useQuery(passkeysQuery).data !== undefined;
  const own = nameIn(useSyncExternalStore(session.subscribe, session.state));
  const toggle = useMutation({
    mutationFn: ({ id, enabled }: { id: number; enabled: boolean }) =>
      weir.admins.update({ id, body: { enabled } }),
    onError: notifyTrouble,
    onSettled: readAgain,
  });
  const roleName = (id: number): string => roles.data?.find((role) => role.id === id)?.name ?? `#${id}`;
  const close = () => setEdited(undefined);
  return (
    <section className="card" aria-labelledby="admins">
      <div className="card-head">
        <h2 id="admins">{say('roles.admins')}</h2>
        <Button className="button main" onPress={() => setEdited('new')}>
          {say('roles.newAdmin')}
        </Button>
      </div>
      {admins.error && <Problem error={admins.error} retry={() => void admins.refetch()} />}
      {admins.isPending && <p className="muted">{say('loading')}</p>}
      <ul className="system-list">
        {admins.data?.map((admin) => (
          <li key={admin.id} className="card" data-admin={admin.username}>
            <div className="card-head">
              <strong>
                <bdi>{shownName(admin.username)}</bdi>
              </strong>
              <Switch
                className="switch"
                isSelected={admin.enabled}
                onChange={(enabled) => toggle.mutate({ id: admin.id, enabled })}
                aria-label={say('switch.label', { name: isolated(admin.username) })}
              >
                <span className="switch-track" aria-hidden />
              </Switch>
            </div>
            <p className="muted">
              {admin.role === 0 ? (
                say('roles.full')
              ) : (
                <>
                  {say('roles.role')}: <bdi>{shownName(roleName(admin.role))}</bdi>
                </>
              )}{' '}
              · {say('roles.since', { time: format.moment(admin.createdAt) })}
              {admin.secondFactor && <> · {say('system.factor')}</>}
            </p>
            <ItemActions name={admin.username} edit={() => setEdited(admin)} remove={() => setRemoved(admin)}>
              {/* The own one is turned off with a code, at the account. */}
              {admin.secondFactor && admin.username !== own && (
                <Button
                  className="button risky small"
                  aria-label={say('factor.resetOf', { name: isolated(admin.username) })}
                  onPress={() => setReset(admin)}
                >
                  {say('factor.reset')}
                </Button>
              )}
              {hasPasskeys && admin.username !== own && (
                <Button
                  className="button risky small"
                  aria-label={say('passkeys.removeAllOf', { name: isolated(admin.username) })}
                  onPress={() => setLost(admin)}
                >
                  {say('passkeys.removeAll')}
                </Button>
              )}
            </ItemActions>
          </li>
        ))}
      </ul>
      <Sheet
        title={
          edited === undefined || edited === 'new'
            ? say('roles.newAdmin')
            : say('roles.editOf', { name: isolated(edited.username) })
        }
        isOpen={edited !== undefined}
        close={close}
      >
        {edited && <AdminForm admin={edited} roles={roles.data ?? []} close={close} />}
      </Sheet>
      <RemoveSheet
        name={removed?.username}
        cost={say('roles.removeAdminCost')}
        remove={() => (removed ? weir.admins.delete({ id: removed.id }) : Promise.resolve())}
        close={() => setRemoved(undefined)}
      />
      <RemoveSheet
        name={reset?.username}
        title={say('factor.resetOf', { name: isolated(reset?.username ?? '') })}
        act={say('factor.reset')}
        cost={say('factor.resetCost')}
        remove={() => (reset ? weir.admins.resetSecondFactor({ id: reset.id }) : Promise.resolve())}
        close={() => setReset(undefined)}
      />
      <RemoveSheet
        name={lost?.username}
        title={say('passkeys.removeAllOf', { name: isolated(lost?.username ?? '') })}
        act={say('passkeys.removeAll')}
        cost={say('passkeys.removeAllCost')}
        remove={async () => {
          if (!lost) return;
          const { removed } = await weir.passkeys.deleteAll({ adminId: lost.id });
          notify(say('passkeys.removedAll', { count: removed }));
        }}
        close={() => setLost(undefined)}
      />
    </section>
  );
}
