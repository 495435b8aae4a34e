// Resellers, for full admins: what each may give, what he has given, and which clients are his.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { ResellersListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { ItemActions } from '../roles/item-actions.js';
import { rolesQuery } from '../roles/queries.js';
import { RemoveSheet } from '../roles/remove-sheet.js';
import { AssignForm } from './assign-form.js';
import { readResellersAgain, resellersQuery } from './queries.js';
import { QuotaFacts } from './quota-facts.js';
import { ResellerForm } from './reseller-form.js';

type Reseller = ResellersListReply[number];

export function ResellersPage() {
  const { say } = useReader();
  const resellers = useQuery(resellersQuery);
  const [edited, setEdited] = useState<Reseller | 'new'>();
  const [removed, setRemoved] = useState<Reseller>();
  const [assigned, setAssigned] = useState<Reseller>();
  const closeEdit = () => setEdited(undefined);
  return (
    <section className="card" aria-labelledby="resellers">
      <div className="card-head">
        <h2 id="resellers">{say('resellers.title')}</h2>
        <Button className="button" onPress={() => setEdited('new')}>
          {say('resellers.new')}
        </Button>
      </div>
      {resellers.error && <Problem error={resellers.error} retry={() => void resellers.refetch()} />}
      {resellers.isPending && <p className="muted">{say('loading')}</p>}
      {resellers.data?.length === 0 && <p className="muted">{say('resellers.none')}</p>}
      <ul className="system-list">
        {resellers.data?.map((reseller) => (
          <li key={reseller.id} className="card" data-reseller={reseller.name}>
            <ResellerFigures reseller={reseller} />
            <ItemActions
              name={reseller.name}
              edit={() => setEdited(reseller)}
              remove={() => setRemoved(reseller)}
            />
            <div className="actions">
              <Button className="button small" onPress={() => setAssigned(reseller)}>
                {say('resellers.assign')}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <Sheet
        title={
          edited === undefined || edited === 'new'
            ? say('resellers.new')
            : say('roles.editOf', { name: isolated(edited.name) })
        }
        isOpen={edited !== undefined}
        close={closeEdit}
      >
        {edited && <ResellerForm reseller={edited} close={closeEdit} />}
      </Sheet>
      <Sheet
        title={say('resellers.assign')}
        isOpen={assigned !== undefined}
        close={() => setAssigned(undefined)}
      >
        {assigned && <AssignForm reseller={assigned} close={() => setAssigned(undefined)} />}
      </Sheet>
      <RemoveSheet
        name={removed?.name}
        cost={say('resellers.removeCost')}
        remove={async () => {
          if (removed) await weir.resellers.delete({ id: removed.id });
          readResellersAgain();
        }}
        close={() => setRemoved(undefined)}
      />
    </section>
  );
}

function ResellerFigures({ reseller }: { reseller: Reseller }) {
  const { say } = useReader();
  const roles = useQuery(rolesQuery).data;
  const { name, admin, prefix } = reseller;
  const kind = roles?.find(({ id }) => id === admin?.role)?.kind;
  return (
    <>
      <div className="card-head">
        <strong>
          <bdi>{shownName(name)}</bdi>
        </strong>
        {admin ? (
          <span className="muted">
            <bdi>{shownName(admin.username)}</bdi>
          </span>
        ) : (
          <span className="tag">{say('resellers.noAdmin')}</span>
        )}
      </div>
      {admin && roles && kind !== 'reseller' && <p className="hint">{say('resellers.noRole')}</p>}
      <dl className="facts">
        <QuotaFacts of={reseller} />
        {prefix !== '' && (
          <>
            <dt>{say('resellers.prefix')}</dt>
            <dd dir="ltr">{prefix}</dd>
          </>
        )}
      </dl>
    </>
  );
}
