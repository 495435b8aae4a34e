// One inbound, a new one or a copy: the form of its schemas, the same document as JSON, and what saving it does.
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import type { InboundsAddInput, InboundsGetReply } from '../../../../sdk/index.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import type { Values } from '../forms/schema.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { conflictsOf, onlyTheirs } from '../parts/conflict.js';
import { ConflictBox } from '../parts/conflict-box.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { InboundActions } from './actions.js';
import { chosenOf, shownPath, textsOf } from './conflict.js';
import { anyPort, copyOf } from './copying.js';
import { documentOf, editOf, newDocument } from './document.js';
import { Fallbacks } from './fallbacks.js';
import { InboundFields } from './inbound-fields.js';
import { JsonView } from './json-view.js';
import { planOf, planOfRemoval, type Schemas } from './plan.js';
import { PlanLine } from './plan-line.js';
import { inboundQuery, inboundSchemasQuery } from './queries.js';
import './inbounds.css';

const route = getRouteApi('/admin/inbound');
const newRoute = getRouteApi('/admin/inbound/new');
/** Protocols whose inbounds can send on what is not of them. */
const FALLBACK_PROTOCOLS: readonly unknown[] = ['vless', 'trojan'];

export function InboundPage() {
  const { say } = useReader();
  const id = Number(route.useSearch().id);
  const stored = useQuery(inboundQuery(id));
  const schemas = useQuery(inboundSchemasQuery);
  const error = stored.error ?? schemas.error;
  const retry = () => void Promise.all([stored.refetch(), schemas.refetch()]);
  if (error) return <Problem error={error} retry={retry} />;
  if (!stored.data || !schemas.data) return <p role="status">{say('loading')}</p>;
  return <Editor key={id} stored={stored.data} schemas={schemas.data} />;
}

export function NewInboundPage() {
  const { say } = useReader();
  const { from } = newRoute.useSearch();
  const original = useQuery({ ...inboundQuery(Number(from)), enabled: from !== undefined });
  const schemas = useQuery(inboundSchemasQuery);
  const failed = [schemas, original].find(({ error }) => error);
  if (failed) return <Problem error={failed.error} retry={() => void failed.refetch()} />;
  if (!schemas.data || (from !== undefined && !original.data)) return <p role="status">{say('loading')}</p>;
  const { data } = original;
  const first =
    data && from !== undefined
      ? copyOf(
          data as unknown as Values,
          schemas.data.protocols,
          say('inbounds.copyOf', { name: data.remark || data.tag }),
        )
      : firstDocument(schemas.data);
  return <Editor key={from ?? ''} first={first} schemas={schemas.data} />;
}

function firstDocument({ protocols, transports }: Schemas): Values {
  const first = protocols.protocols.find(({ name }) => name === 'vless') ?? protocols.protocols[0];
  return first ? newDocument(first, protocols, transports, { port: anyPort() }) : {};
}

interface EditorProps {
  readonly stored?: InboundsGetReply;
  /** what a new inbound begins with */
  readonly first?: Values;
  readonly schemas: Schemas;
}

function Editor({ stored, first = {}, schemas }: EditorProps) {
  const { say } = useReader();
  const navigate = useNavigate();
  // What the form began with: what changes on the panel meanwhile is not a change of the reader.
  const [start, setStart] = useState(stored);
  const before = useMemo(() => (start ? documentOf(start, schemas.protocols) : {}), [start, schemas]);
  const [document, setDocument] = useState<Values>(start ? before : first);
  const [isBroken, setBroken] = useState(false);
  const [theirs, setTheirs] = useState<InboundsGetReply>();
  const changes = editOf(before, document, schemas.protocols);
  const count = Object.keys(changes).length;
  const save = useMutation({
    mutationFn: async () =>
      start
        ? weir.inbounds.update({ id: start.id, body: changes }, { ifVersion: start.version })
        : weir.inbounds.add({ body: document as InboundsAddInput['body'] }),
    onSuccess: ({ id }) => {
      notify(say('inbounds.saved'));
      void queries.invalidateQueries({ queryKey: ['inbounds'] });
      void navigate({ to: '/inbounds', hash: String(id) });
    },
    onError: async (error) => {
      if (start && error instanceof PanelFailure && error.status === 409)
        setTheirs(await weir.inbounds.get({ id: start.id }).catch(() => undefined));
    },
  });
  /** From the version that somebody else has saved; the reader looks at it, and saves again. */
  const goOn = (next: Values): void => {
    setStart(theirs);
    setDocument(next);
    setTheirs(undefined);
    save.reset();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isBroken && !save.isPending) save.mutate();
  };
  const issues = save.error instanceof PanelFailure ? save.error.issues : [];
  const problems = new Map(issues.map(({ path, message }) => [path, message]));
  const plan = planOf(schemas, start && before, document);
  const form = (
    <Form className="stack inbound-form" onSubmit={submit}>
      <div className="page-head">
        <h1>{start ? <bdi>{shownName(start.remark || start.tag)}</bdi> : say('inbounds.new')}</h1>
        {start && <InboundActions stored={start} removal={planOfRemoval(schemas, before)} />}
      </div>
      {save.error && <Problem error={save.error} />}
      {theirs && theirs.version !== start?.version && (
        <InboundConflict
          documents={[before, document, documentOf(theirs, schemas.protocols)]}
          choose={goOn}
        />
      )}
      <div className="columns">
        <InboundFields
          document={document}
          change={setDocument}
          schemas={schemas}
          problems={problems}
          isNew={!start}
        />
        <JsonView document={document} change={setDocument} tellBroken={setBroken} />
      </div>
      <div className="actions end save-bar">
        <span className="muted save-words" role="status">
          {start && say('edit.changes', { count })} {count > 0 && <PlanLine plan={plan} id={start?.id} />}
        </span>
        <Button
          type="submit"
          className="button main"
          isPending={save.isPending}
          isDisabled={isBroken || count === 0}
        >
          {say('save')}
        </Button>
      </div>
    </Form>
  );
  return (
    <div className="page">
      {form}
      {start && FALLBACK_PROTOCOLS.includes(start.protocol) && <Fallbacks id={start.id} />}
    </div>
  );
}

interface ConflictProps {
  /** as the form began, as it is, and as somebody else has saved it */
  readonly documents: readonly [before: Values, mine: Values, theirs: Values];
  readonly choose: (merged: Values) => void;
}

function InboundConflict({ documents, choose }: ConflictProps) {
  const [before = {}, mine = {}, theirs = {}] = textsOf(...documents);
  return (
    <ConflictBox
      conflicts={conflictsOf(before, mine, theirs)}
      kept={onlyTheirs(before, mine, theirs)}
      label={shownPath}
      shown={(_, value) => value}
      choose={(chosen) => choose(chosenOf(...documents, chosen))}
    />
  );
}
