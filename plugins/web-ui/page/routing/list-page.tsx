// The form of a new list of outbounds, or of one that is there.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { weir } from '../api/panel.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { ListForm } from './list-form.js';
import { NEW_LIST, type OutboundList, placeOfList, typedList } from './list-words.js';
import { fetchList } from './list-fetch.js';
import { listsChanged, listsQuery } from './queries.js';

const route = getRouteApi('/admin/routing/list');

function Back() {
  const { say } = useReader();
  return (
    <Link to="/routing/lists" className="back">
      {say('routing.backToLists')}
    </Link>
  );
}

export function NewListPage() {
  const { say } = useReader();
  const navigate = useNavigate();
  const back = () => void navigate({ to: '/routing/lists' });
  return (
    <>
      <Back />
      <h2>{say('routing.list.new')}</h2>
      <ListForm
        name="new"
        initial={NEW_LIST}
        isOld={false}
        cancel={back}
        save={async (body) => {
          const { id } = await weir.engine.createOutboundSub({ body });
          notify(say('routing.list.added'));
          await listsChanged();
          back();
          // Its row says what came of it.
          void fetchList(id);
        }}
      />
    </>
  );
}

export function ListPage() {
  const { say } = useReader();
  const { id } = route.useSearch();
  const lists = useQuery(listsQuery);
  const list = lists.data?.find((one) => String(one.id) === id);
  return (
    <>
      <Back />
      {lists.error && <Problem error={lists.error} retry={() => void lists.refetch()} />}
      {lists.isPending && <p role="status">{say('loading')}</p>}
      {lists.data && !list && <p>{say('routing.gone')}</p>}
      {list && <Edited key={list.id} list={list} />}
    </>
  );
}

function Edited({ list }: { list: OutboundList }) {
  const { say } = useReader();
  const navigate = useNavigate();
  // As it was when the form was opened: fetches change the list.
  const [{ initial, version }] = useState(() => ({ initial: typedList(list), version: list.version }));
  const back = () => void navigate({ to: '/routing/lists' });
  const name = list.remark || placeOfList(list.url);
  return (
    <>
      <h2>
        <bdi>{shownName(name)}</bdi>
      </h2>
      <ListForm
        name={String(list.id)}
        initial={initial}
        isOld
        cancel={back}
        save={async (body) => {
          await weir.engine.updateOutboundSub({ id: list.id, body }, { ifVersion: version });
          notify(say('routing.list.saved', { name: isolated(name) }));
          await listsChanged();
          back();
        }}
      />
    </>
  );
}
