// The inbounds: where they listen, what they moved, whether they are on.
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Switch } from 'react-aria-components';
import type { InboundsListReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useMay } from '../api/rights.js';
import { viewOf } from '../clients/view.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notifyTrouble } from '../parts/notices.js';
import { Permitted } from '../parts/permitted.js';
import { usePortion } from '../parts/portion.js';
import { Problem } from '../parts/problem.js';
import { StartOffer } from '../start/offer.js';
import { ImportSheet } from './import-sheet.js';
import { inboundListQuery } from './queries.js';
import './inbounds.css';

type Inbound = InboundsListReply[number];

export function InboundsPage() {
  const { say } = useReader();
  const list = useQuery(inboundListQuery);
  const [isImporting, setImporting] = useState(false);
  const { shown, more } = usePortion(list.data ?? []);
  return (
    <div className="page">
      <div className="page-head">
        <h1>{say('inbounds.title')}</h1>
        <Permitted needs={['inbounds:write', 'clients:write']}>
          <div className="actions">
            <Button className="button" onPress={() => setImporting(true)}>
              {say('inbounds.import')}
            </Button>
            <Link to="/inbound/new" className="button main">
              {say('inbounds.new')}
            </Link>
          </div>
        </Permitted>
      </div>
      {isImporting && <ImportSheet close={() => setImporting(false)} />}
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <p role="status">{say('loading')}</p>}
      {list.data?.length === 0 && <p className="empty">{say('inbounds.none')}</p>}
      {list.data?.length === 0 && <StartOffer />}
      {list.data && list.data.length > 0 && (
        <>
          <p className="hint">{say('inbounds.offCost')}</p>
          <ul className="inbounds">
            {shown.map((inbound) => (
              <Row key={inbound.id} inbound={inbound} />
            ))}
          </ul>
          {more}
        </>
      )}
    </div>
  );
}

function Row({ inbound }: { inbound: Inbound }) {
  const { say, format } = useReader();
  const { id, remark, tag, protocol, listen, port, up, down, state } = inbound;
  return (
    <li className="card inbound">
      <InboundSwitch inbound={inbound} />
      <Link to="/inbound" search={{ id: String(id) }} className="inbound-name">
        <bdi>{shownName(remark || tag)}</bdi>
      </Link>
      <span dir="ltr">
        {protocol} {listen}:{port}
      </span>
      <span className="muted">
        {say('inbounds.moved', { up: format.bytes(up), down: format.bytes(down) })}
      </span>
      <Link to="/clients" search={viewOf({ inbound: String(id) })}>
        {say('inbounds.clients')}
      </Link>
      {state !== '' && state !== 'running' && <span className="field-problem">{state}</span>}
    </li>
  );
}

function InboundSwitch({ inbound: { id, remark, tag, enable } }: { inbound: Inbound }) {
  const { say } = useReader();
  const may = useMay();
  const change = useMutation({
    mutationFn: (on: boolean) => weir.inbounds.setEnable({ id, body: { enable: on } }),
    onError: notifyTrouble,
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbounds'] }),
  });
  return (
    <Switch
      className="switch"
      data-pending={change.isPending || undefined}
      aria-label={say('switch.label', { name: shownName(remark || tag) })}
      isSelected={change.isPending ? change.variables : enable}
      isDisabled={change.isPending || !may('inbounds:write')}
      onChange={(on) => change.mutate(on)}
    >
      <span className="switch-track" aria-hidden />
    </Switch>
  );
}
