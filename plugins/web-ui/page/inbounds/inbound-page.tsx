// One inbound, or a new one: the form of its schemas, and the same document as JSON.
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
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import {
  documentOf,
  editOf,
  mergedAbove,
  newDocument,
  type ProtocolsReply,
  type TransportsReply,
} from './document.js';
import { InboundFields } from './inbound-fields.js';
import { JsonView } from './json-view.js';
import { inboundQuery, inboundSchemasQuery } from './queries.js';
import './inbounds.css';

const route = getRouteApi('/admin/inbound');
export interface Schemas {
  readonly protocols: ProtocolsReply;
  readonly transports: TransportsReply;
}

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
  const schemas = useQuery(inboundSchemasQuery);
  if (schemas.error) return <Problem error={schemas.error} retry={() => void schemas.refetch()} />;
  if (!schemas.data) return <p role="status">{say('loading')}</p>;
  return <Editor schemas={schemas.data} />;
}

/** Above those that systems use. */
const anyPort = (): number => 20_000 + Math.floor(Math.random() * 12_000);

function firstDocument({ protocols, transports }: Schemas): Values {
  const first = protocols.protocols.find(({ name }) => name === 'vless') ?? protocols.protocols[0];
  return first ? newDocument(first, protocols, transports, { port: anyPort() }) : {};
}

function Editor({ stored, schemas }: { stored?: InboundsGetReply; schemas: Schemas }) {
  const { say } = useReader();
  const navigate = useNavigate();
  // What the form began with: what changes on the panel meanwhile is not a change of the reader.
  const [start, setStart] = useState(stored);
  const before = useMemo(() => (start ? documentOf(start, schemas.protocols) : {}), [start, schemas]);
  const [document, setDocument] = useState<Values>(() => (start ? before : firstDocument(schemas)));
  const [isBroken, setBroken] = useState(false);
  const [theirs, setTheirs] = useState<InboundsGetReply>();
  const changes = editOf(before, document);
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
  return (
    <Form className="page" onSubmit={submit}>
      <h1>{start ? <bdi>{shownName(start.remark || start.tag)}</bdi> : say('inbounds.new')}</h1>
      {save.error && <Problem error={save.error} />}
      {theirs && theirs.version !== start?.version && (
        <Conflict
          mine={changes}
          theirs={documentOf(theirs, schemas.protocols)}
          keep={() => goOn(mergedAbove(before, document, documentOf(theirs, schemas.protocols)))}
          take={() => goOn(documentOf(theirs, schemas.protocols))}
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
      <div className="actions end sticky">
        <span className="muted" role="status">
          {start && say('edit.changes', { count })}
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
}

interface ConflictProps {
  readonly mine: Values;
  readonly theirs: Values;
  readonly keep: () => void;
  readonly take: () => void;
}

function Conflict({ mine, theirs, keep, take }: ConflictProps) {
  const { say } = useReader();
  return (
    <section className="card">
      <p>{say('inbounds.conflict')}</p>
      {Object.entries(mine).map(([name, value]) => (
        <dl key={name}>
          <dt dir="ltr">{name}</dt>
          <dd>
            {say('inbounds.mine')}: <code dir="ltr">{JSON.stringify(value)}</code>
          </dd>
          <dd>
            {say('inbounds.theirs')}: <code dir="ltr">{JSON.stringify(theirs[name])}</code>
          </dd>
        </dl>
      ))}
      <div className="actions">
        <Button className="button" onPress={keep}>
          {say('inbounds.mine')}
        </Button>
        <Button className="button" onPress={take}>
          {say('inbounds.takeTheirs')}
        </Button>
      </div>
    </section>
  );
}
