// What a client program is given: the address of the subscription, and the link of each inbound, with their QR codes.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { ClientsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { clientPartQuery } from '../api/queries.js';
import { isolated } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Problem } from '../parts/problem.js';
import { QrCode } from '../parts/qr-code.js';
import { loopbackOf } from './link-host.js';
import { linkName } from './link-name.js';

interface Given {
  readonly value: string;
  readonly text: string;
}

export function Links({ client }: { client: ClientsGetReply }) {
  const { say } = useReader();
  const { email, subId } = client;
  const links = useQuery(
    clientPartQuery(email, 'links', (signal) => weir.clients.links({ email }, { signal })),
  );
  const subscriptions = useQuery(
    clientPartQuery(email, `subscription ${subId}`, (signal) =>
      weir.subscription.urls({ email }, { signal }),
    ),
  );
  const [chosen, setChosen] = useState('');
  const given: readonly Given[] = [
    ...(subscriptions.data ?? []).map(({ url, format }, index) => ({
      value: url,
      text: index === 0 ? say('links.subscription') : say('links.subscriptionOf', { format }),
    })),
    ...(links.data ?? []).map((value, index) => ({
      value,
      text: linkName(value) || say('links.number', { number: index + 1 }),
    })),
  ];
  const current = given.find(({ value }) => value === chosen) ?? given[0];
  const loopback = loopbackOf(current?.value ?? '');
  const failed = [links, subscriptions].find(({ error }) => error !== null);
  return (
    <section className="card links" aria-labelledby="links">
      <h2 id="links">{say('links.title')}</h2>
      {failed && <Problem error={failed.error} retry={() => void failed.refetch()} />}
      {given.length === 0 && !failed && (
        <p className="muted">{say(links.isPending ? 'loading' : 'links.none')}</p>
      )}
      {current && (
        <>
          {given.length > 1 && (
            <Choice label={say('links.which')} value={current.value} options={given} choose={setChosen} />
          )}
          {loopback !== '' && (
            <p className="unreachable">
              <TriangleAlert size={20} aria-hidden />
              <span>
                {say('links.loopback', { host: isolated(loopback) })}{' '}
                <Link to="/system/settings" search={{ search: 'subDomain' }}>
                  {say('links.loopbackSet')}
                </Link>
              </span>
            </p>
          )}
          <div className="link">
            <QrCode text={current.value} label={say('links.qrOf', { name: current.text })} />
            <Copy text={current.value} label={current.text} />
          </div>
        </>
      )}
    </section>
  );
}
