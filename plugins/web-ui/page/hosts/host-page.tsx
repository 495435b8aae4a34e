// One host, or a new one: the form with a sketch of its links.
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { HostsAddInput } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { inboundsQuery } from '../api/queries.js';
import { saidAt } from '../api/trouble.js';
import { InboundChoice } from '../clients/inbound-choice.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { conflictsOf, merged, mergedIds, onlyTheirs } from '../parts/conflict.js';
import { ConflictBox } from '../parts/conflict-box.js';
import { useDraft } from '../parts/draft.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { undoable } from '../parts/undo.js';
import {
  hostChanges,
  type HostFieldName,
  hostFieldOf,
  type HostGroup,
  NEW_HOST,
  type TypedHost,
  typedHost,
} from './fields.js';
import { HostFields } from './host-fields.js';
import { hostQuery, hostsChanged } from './queries.js';
import { SketchCard } from './sketch-card.js';
import '../clients/clients.css';
import './hosts.css';

const stored = getRouteApi('/admin/host');
const fresh = getRouteApi('/admin/host/new');

interface Filled {
  readonly typed: TypedHost;
  readonly inboundIds: readonly number[];
}
interface Edited extends Filled {
  /** what the form began with: what changes on the panel meanwhile is not a change of the reader */
  readonly base: Filled & { readonly version: string };
}

const editedOf = (group: HostGroup): Edited => {
  const filled = { typed: typedHost(group), inboundIds: group.inboundIds };
  return { ...filled, base: { ...filled, version: group.version } };
};
const newAt = (inboundIds: readonly number[]): Edited => {
  const filled = { typed: NEW_HOST, inboundIds };
  return { ...filled, base: { ...filled, inboundIds: [], version: '' } };
};

export function HostPage() {
  const { say } = useReader();
  const { id } = stored.useSearch();
  const host = useQuery(hostQuery(id));
  const [start, setStart] = useState<HostGroup>();
  if (host.data && start?.groupId !== id) setStart(host.data);
  return (
    <div className="page">
      <Back />
      {host.error && !start && <Problem error={host.error} retry={() => void host.refetch()} />}
      {host.isPending && <p role="status">{say('loading')}</p>}
      {start && (
        <>
          <h1>
            <bdi>{shownName(start.remark)}</bdi>
          </h1>
          <Editor key={start.groupId} groupId={start.groupId} initial={editedOf(start)} />
        </>
      )}
    </div>
  );
}

export function NewHostPage() {
  const { say } = useReader();
  const { inbound } = fresh.useSearch();
  const id = Number(inbound);
  return (
    <div className="page">
      <Back />
      <h1>{say('hosts.new')}</h1>
      <Editor key={inbound} initial={newAt(Number.isSafeInteger(id) && id > 0 ? [id] : [])} />
    </div>
  );
}

function Back() {
  const { say } = useReader();
  return (
    <Link to="/hosts" className="back">
      <ChevronLeft size={16} aria-hidden className="mirrored" />
      {say('hosts.title')}
    </Link>
  );
}

function Editor({ groupId, initial }: { groupId?: string; initial: Edited }) {
  const { say } = useReader();
  const navigate = useNavigate();
  const inbounds = useQuery(inboundsQuery);
  const [first] = useState(initial);
  const draft = useDraft<Edited>(`host ${groupId ?? `new ${first.inboundIds.join()}`}`, first);
  const { typed, inboundIds, base: before } = draft.value;
  /** what somebody else has saved meanwhile */
  const [theirs, setTheirs] = useState<Edited>();
  const [isTried, setTried] = useState(false);
  const { body, invalid } = hostChanges(before.typed, typed);
  const isMoved = [...inboundIds].sort().join() !== [...before.inboundIds].sort().join();
  const count = Object.keys(body).length + invalid.length + (isMoved ? 1 : 0);
  const save = useMutation({
    mutationFn: async () => {
      const sent = { ...body, ...(isMoved && { inboundIds: [...inboundIds] }) };
      if (groupId !== undefined)
        return undoable({ area: 'host', subject: groupId }, () =>
          weir.hosts.update({ groupId, body: sent }, { ifVersion: before.version }),
        );
      await weir.hosts.add({ body: sent as HostsAddInput['body'] });
      return undefined;
    },
    onSuccess: async (undo) => {
      draft.discard();
      const act = undo && {
        text: say('undo'),
        run: () =>
          void undo()
            .then(() => notify(say('undo.done')), notifyTrouble)
            .finally(() => void hostsChanged()),
      };
      notify(say('hosts.saved'), act);
      await hostsChanged();
      void navigate({ to: '/hosts' });
    },
    onError(error) {
      const isLate = error instanceof PanelFailure && error.code === 'RECORD_VERSIONS_CHANGED';
      if (isLate && error.current) setTheirs(editedOf(error.current as HostGroup));
    },
  });
  const hasInbound = inboundIds.length > 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (invalid.length === 0 && hasInbound && !save.isPending) save.mutate();
  };
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problems = new Map<string, string>(
    issues.flatMap((issue) => {
      const field = hostFieldOf(issue.path);
      return field === undefined ? [] : [[field, saidAt(issue)] as const];
    }),
  );
  if (isTried)
    for (const field of invalid)
      problems.set(field, say(`hosts.wrong.${field === 'port' ? 'port' : 'json'}`));
  const atInbounds =
    problems.get('inboundIds') ?? (isTried && !hasInbound ? say('hosts.noInbound') : undefined);
  const isElsewhere = save.error && !theirs && problems.size === 0;
  return (
    <Form className="stack" onSubmit={submit} aria-label={say('hosts.form')}>
      {draft.isRestored && count > 0 && <p className="hint">{say('edit.restored')}</p>}
      {isElsewhere && <Problem error={save.error} />}
      {theirs && (
        <ConflictBox<HostFieldName>
          conflicts={conflictsOf(before.typed, typed, theirs.typed)}
          kept={onlyTheirs(before.typed, typed, theirs.typed)}
          label={(field) => say(`hosts.field.${field}`)}
          shown={(_, value) => value}
          choose={(chosen) => {
            draft.set({
              typed: merged(before.typed, typed, theirs.typed, chosen),
              inboundIds: mergedIds(before.inboundIds, inboundIds, theirs.inboundIds),
              base: theirs.base,
            });
            setTheirs(undefined);
            save.reset();
          }}
        />
      )}
      <div className="columns">
        <div className="stack">
          <section className="card" aria-labelledby="host-inbounds">
            <h2 id="host-inbounds">{say('field.inbounds')}</h2>
            <p className="hint">{say('hosts.hint.inboundIds')}</p>
            {inbounds.error && <Problem error={inbounds.error} retry={() => void inbounds.refetch()} />}
            <InboundChoice
              options={inbounds.data ?? []}
              chosen={inboundIds}
              choose={(ids) => draft.set({ ...draft.value, inboundIds: ids })}
            />
            {atInbounds !== undefined && (
              <p className="field-problem" role="alert">
                {atInbounds}
              </p>
            )}
          </section>
          <HostFields
            typed={typed}
            set={(name, value) => draft.set({ ...draft.value, typed: { ...typed, [name]: value } })}
            problems={problems}
          />
        </div>
        <SketchCard typed={typed} />
      </div>
      <div className="actions end sticky">
        <span className="muted" role="status">
          {problems.size > 0
            ? say('settings.refused', { count: problems.size })
            : groupId !== undefined && say('edit.changes', { count })}
        </span>
        <Button
          className="button"
          onPress={() => {
            draft.discard();
            void navigate({ to: '/hosts' });
          }}
        >
          {say('cancel')}
        </Button>
        <Button
          type="submit"
          className="button main"
          isPending={save.isPending}
          isDisabled={count === 0 || theirs !== undefined}
        >
          {say('save')}
        </Button>
      </div>
    </Form>
  );
}
