// One node: its state, its machine, what it carries; edit and remove.
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft, Pencil } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { Carried } from './carried.js';
import { Machine } from './machine.js';
import { NodeForm } from './node-form.js';
import { NodeSwitch } from './node-switch.js';
import { nodeSyncQuery, nodesChanged, nodesQuery } from './queries.js';
import { StateLine } from './state-line.js';
import type { PanelNode } from './tree.js';
import { typedOf } from './wanted.js';
import './nodes.css';

const route = getRouteApi('/admin/node');

export function NodePage() {
  const { say } = useReader();
  const { id, edit } = route.useSearch();
  const list = useQuery(nodesQuery);
  const node = list.data?.find((one) => !one.transitive && String(one.id) === id);
  return (
    <div className="page">
      <Link to="/nodes" className="back">
        <ChevronLeft size={16} aria-hidden className="mirrored" />
        {say('nodes.title')}
      </Link>
      {list.error && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <p role="status">{say('loading')}</p>}
      {list.data && !node && <h1>{say('nodes.gone')}</h1>}
      {node && (edit === undefined ? <Shown node={node} /> : <Edited key={node.id} node={node} />)}
    </div>
  );
}

function Edited({ node }: { node: PanelNode }) {
  const { say } = useReader();
  const navigate = useNavigate();
  // As it was when the form was opened: heartbeats change the list.
  const [{ initial, version }] = useState(() => ({ initial: typedOf(node), version: node.version }));
  const close = () =>
    void navigate({ to: '/node', search: { id: String(node.id), edit: undefined }, replace: true });
  return (
    <>
      <h1>
        <bdi>{shownName(node.name)}</bdi>
      </h1>
      <NodeForm
        id={node.id}
        initial={initial}
        version={version}
        hasToken={node.hasApiToken}
        done={() => {
          notify(say('nodes.saved'));
          close();
        }}
        cancel={close}
      />
    </>
  );
}

function Shown({ node }: { node: PanelNode }) {
  const { say } = useReader();
  const navigate = useNavigate();
  const { id, name, problems } = node;
  const sync = useQuery(nodeSyncQuery).data?.find(({ nodeId }) => nodeId === id);
  const [isRemoving, setRemoving] = useState(false);
  const probe = useMutation({
    mutationFn: () => weir.nodes.probe({ id }),
    onError: notifyTrouble,
    onSettled: nodesChanged,
  });
  const accept = useMutation({
    mutationFn: () => weir.nodes.acceptGuid({ id }),
    onError: notifyTrouble,
    onSettled: nodesChanged,
  });
  return (
    <>
      <div className="page-head">
        <div className="node-name">
          <h1>
            <bdi>{shownName(name)}</bdi>
          </h1>
          <NodeSwitch node={node} />
        </div>
        <div className="actions">
          <Button className="button" isPending={probe.isPending} onPress={() => probe.mutate()}>
            {say('nodes.probe')}
          </Button>
          <Button
            className="button"
            onPress={() => void navigate({ to: '/node', search: { id: String(id), edit: '1' } })}
          >
            <Pencil size={16} aria-hidden />
            {say('edit')}
          </Button>
          <Button className="button risky" onPress={() => setRemoving(true)}>
            {say('remove')}
          </Button>
        </div>
      </div>
      <StateLine node={node} sync={sync} />
      {problems.some(({ code }) => code === 'other') && (
        <div className="actions">
          <Button className="button" isPending={accept.isPending} onPress={() => accept.mutate()}>
            {say('nodes.accept')}
          </Button>
        </div>
      )}
      <div className="columns">
        <div className="stack">
          <Carried id={id} sync={sync} />
        </div>
        <div className="stack">
          <Machine node={node} />
        </div>
      </div>
      <RemoveDialog node={node} isOpen={isRemoving} close={() => setRemoving(false)} />
    </>
  );
}

function RemoveDialog({ node, isOpen, close }: { node: PanelNode; isOpen: boolean; close: () => void }) {
  const { say } = useReader();
  const navigate = useNavigate();
  const { id, name } = node;
  const remove = useMutation({
    mutationFn: () => weir.nodes.delete({ id }),
    onSuccess: async () => {
      notify(say('nodes.removed', { name: isolated(name) }));
      close();
      await navigate({ to: '/nodes' });
      await nodesChanged();
    },
  });
  return (
    <Sheet title={say('nodes.removeAsk')} isOpen={isOpen} close={close} role="alertdialog">
      <p>{say('nodes.removeCost', { name: isolated(name), count: node.inboundCount })}</p>
      {remove.error && <Problem error={remove.error} />}
      <div className="actions end">
        <Button className="button" onPress={close}>
          {say('cancel')}
        </Button>
        <Button className="button risky" isPending={remove.isPending} onPress={() => remove.mutate()}>
          {say('remove')}
        </Button>
      </div>
    </Sheet>
  );
}
