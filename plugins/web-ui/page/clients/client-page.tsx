// One client: why it works or not, its links, what it used, where it is used from, what was changed.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { useCallback } from 'react';
import { PanelFailure } from '../../../../sdk/failure.js';
import { useSingleKeys } from '../app/shortcuts.js';
import { clientQuery } from '../api/queries.js';
import { useMay } from '../api/rights.js';
import { useIsRunning } from '../api/running.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Permitted } from '../parts/permitted.js';
import { Problem } from '../parts/problem.js';
import { ClientPreview } from '../subscription/client-preview.js';
import { Actions } from './actions.js';
import { Addresses } from './addresses.js';
import { ClientSwitch } from './client-switch.js';
import { Devices } from './devices.js';
import { EditClient } from './edit-client.js';
import { History } from './history.js';
import { Limits } from './limits.js';
import { Links } from './links.js';
import { Usage } from './usage.js';
import { VerdictLine } from './verdict-line.js';
import './clients.css';

const route = getRouteApi('/admin/client');

export function ClientPage() {
  const { say } = useReader();
  const { name, edit } = route.useSearch();
  const navigate = useNavigate();
  const client = useQuery(clientQuery(name));
  const isRunning = useIsRunning();
  const isEditing = edit !== undefined;
  const setEditing = useCallback(
    (on: boolean, email = name) =>
      void navigate({ to: '/client', search: { name: email, edit: on ? '1' : undefined }, replace: true }),
    [navigate, name],
  );
  const mayWrite = useMay()('clients:write');
  const act = useCallback(
    (key: string): boolean => {
      const isEdit = key === 'e' && mayWrite;
      if (isEdit) setEditing(true);
      return isEdit;
    },
    [setEditing, mayWrite],
  );
  useSingleKeys(act);
  const shown = shownName(name);
  const isGone = client.error instanceof PanelFailure && client.error.status === 404;
  return (
    <div className="page client">
      <Link to="/clients" className="back">
        <ChevronLeft size={16} aria-hidden className="mirrored" />
        {say('clients.title')}
      </Link>
      <div className="page-head">
        <h1 title={shown}>
          <bdi>{shown}</bdi>
        </h1>
        {client.data && <ClientSwitch client={client.data} />}
        {client.data && !isEditing && (
          <Permitted needs={['clients:write']}>
            <Actions client={client.data} edit={() => setEditing(true)} />
          </Permitted>
        )}
      </div>
      {isGone && <p>{say('client.gone')}</p>}
      {client.error && !isGone && <Problem error={client.error} retry={() => void client.refetch()} />}
      {client.isPending && <p className="muted">{say('loading')}</p>}
      {client.data && (
        <>
          <VerdictLine client={client.data} />
          {isEditing ? (
            <EditClient
              key={client.data.id}
              client={client.data}
              close={(email) => setEditing(false, email)}
            />
          ) : (
            <div className="columns">
              <div className="stack">
                <Links client={client.data} />
                {isRunning('subscription') && <ClientPreview key={name} email={name} />}
                {isRunning('usage-by-day') && <Usage email={name} />}
              </div>
              <div className="stack">
                <Limits client={client.data} />
                {isRunning('devices') && <Devices email={name} limit={client.data.limitHwid} />}
                {isRunning('addresses') && <Addresses email={name} limit={client.data.limitIp} />}
                {isRunning('audit') && <History email={name} />}
              </div>
            </div>
          )}
        </>
      )}
    </div>
  );
}
