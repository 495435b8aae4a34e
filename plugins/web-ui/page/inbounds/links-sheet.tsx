// The links of an inbound: a client of it, one of its links, and the QR code.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { weir } from '../api/panel.js';
import { clientPartQuery } from '../api/queries.js';
import { linkName } from '../clients/link-name.js';
import { viewOf } from '../clients/view.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Problem } from '../parts/problem.js';
import { QrCode } from '../parts/qr-code.js';
import { Sheet } from '../parts/sheet.js';
import { linkTo } from './copying.js';
import { firstClientsQuery } from './queries.js';

export interface LinksSheetProps {
  readonly inbound: { readonly id: number; readonly port: number };
  readonly close: () => void;
}

export function LinksSheet({ inbound: { id, port }, close }: LinksSheetProps) {
  const { say } = useReader();
  const clients = useQuery(firstClientsQuery(id));
  const [chosen, setChosen] = useState('');
  const emails = (clients.data?.items ?? []).map(({ email }) => email);
  const email = emails.includes(chosen) ? chosen : emails[0];
  const more = (clients.data?.filtered ?? 0) - emails.length;
  return (
    <Sheet title={say('links.title')} isOpen close={close}>
      <div className="stack">
        {clients.isPending && <p role="status">{say('loading')}</p>}
        {clients.error && <Problem error={clients.error} retry={() => void clients.refetch()} />}
        {clients.data && email === undefined && (
          <>
            <p>{say('inbounds.noClients')}</p>
            <Link to="/clients" search={{}}>
              {say('inbounds.clients')}
            </Link>
          </>
        )}
        {email !== undefined && (
          <>
            <Choice
              label={say('inbounds.linkOf')}
              value={email}
              options={emails.map((value) => ({ value, text: shownName(value) }))}
              choose={setChosen}
            />
            {more > 0 && (
              <Link to="/clients" search={viewOf({ inbound: String(id) })}>
                {say('inbounds.moreClients', { count: more })}
              </Link>
            )}
            <LinksOf key={email} email={email} port={port} />
          </>
        )}
      </div>
    </Sheet>
  );
}

function LinksOf({ email, port }: { email: string; port: number }) {
  const { say } = useReader();
  const links = useQuery(
    clientPartQuery(email, 'links', (signal) => weir.clients.links({ email }, { signal })),
  );
  const [chosen, setChosen] = useState<string>();
  const all = links.data ?? [];
  const current = all.find((link) => link === chosen) ?? linkTo(all, port);
  const nameOf = (link: string) => linkName(link) || say('links.number', { number: all.indexOf(link) + 1 });
  if (links.error) return <Problem error={links.error} retry={() => void links.refetch()} />;
  if (links.isPending) return <p role="status">{say('loading')}</p>;
  if (current === undefined) return <p className="muted">{say('inbounds.noLinks')}</p>;
  return (
    <>
      {all.length > 1 && (
        <Choice
          label={say('links.which')}
          value={current}
          options={all.map((value) => ({ value, text: nameOf(value) }))}
          choose={setChosen}
        />
      )}
      <div className="inbound-link">
        <QrCode text={current} label={say('links.qrOf', { name: nameOf(current) })} />
        <Copy text={current} label={nameOf(current)} />
      </div>
    </>
  );
}
