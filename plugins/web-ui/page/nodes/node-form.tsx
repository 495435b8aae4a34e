// A node as a form: it is called before it is saved, and what answered is shown.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { PanelFailure } from '../../../../sdk/failure.js';
import { weir } from '../api/panel.js';
import { saidAt } from '../api/trouble.js';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { Choice } from '../parts/choice.js';
import { useDraft } from '../parts/draft.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { Adopted } from './adopted.js';
import { NodeConflict } from './node-conflict.js';
import { nodesChanged } from './queries.js';
import type { PanelNode } from './tree.js';
import { bodyOf, fieldOfIssue, type TypedNode, typedOf } from './wanted.js';

const TLS: readonly (readonly [TypedNode['tlsVerifyMode'], MessageKey])[] = [
  ['verify', 'nodes.tls.verify'],
  ['pin', 'nodes.tls.pin'],
  ['mtls', 'nodes.tls.mtls'],
  ['skip', 'nodes.tls.skip'],
];

interface Edited {
  readonly typed: TypedNode;
  /** what the form began with: what changes on the panel meanwhile is not a change of the reader */
  readonly base: { readonly typed: TypedNode; readonly version: string | undefined };
}

export interface NodeFormProps {
  /** undefined for a new one */
  readonly id?: number;
  readonly initial: TypedNode;
  /** of the record as `initial` has it: two admins do not overwrite each other */
  readonly version?: string;
  readonly hasToken: boolean;
  readonly done: (name: string) => void;
  readonly cancel: () => void;
}

export function NodeForm({ id, initial, version, hasToken, done, cancel }: NodeFormProps) {
  const { say, format } = useReader();
  const [start] = useState<Edited>({ typed: initial, base: { typed: initial, version } });
  const draft = useDraft<Edited>(`node.${id ?? 'new'}`, start);
  const { typed, base } = draft.value;
  /** what somebody else has saved meanwhile */
  const [theirs, setTheirs] = useState<Edited['base']>();
  const [token, setToken] = useState('');
  const [tested, setTested] = useState('');
  const set = (change: Partial<TypedNode>): void => draft.set({ typed: { ...typed, ...change }, base });
  const body = bodyOf(typed, token);
  /** What a call of the panel depends on: a result counts for this only. */
  const callKey = JSON.stringify(
    body && { ...body, name: '', remark: '', inboundSyncMode: '', inboundTags: [] },
  );
  const test = useMutation({
    mutationFn: async () => {
      if (!body) throw new Error('there is no address');
      return weir.nodes.test({ body: { ...body, ...(id !== undefined && { id }) } });
    },
    onSuccess: () => setTested(callKey),
  });
  const save = useMutation({
    mutationFn: async () => {
      if (!body) throw new Error('there is no address');
      if (id === undefined) await weir.nodes.add({ body: { ...body, enable: true } });
      else
        await weir.nodes.update({ id, body }, base.version === undefined ? {} : { ifVersion: base.version });
    },
    onSuccess: async () => {
      draft.discard();
      await nodesChanged();
      done(typed.name.trim());
    },
    onError(error) {
      const isLate = error instanceof PanelFailure && error.code === 'RECORD_VERSIONS_CHANGED';
      if (!isLate || !error.current) return;
      const node = error.current as PanelNode;
      setTheirs({ typed: typedOf(node), version: node.version });
    },
  });
  const result = tested === callKey ? test.data : undefined;
  const isWell = result?.status === 'online';
  const isBusy = test.isPending || save.isPending;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!body || isBusy) return;
    save.reset();
    if (isWell) save.mutate();
    else test.mutate();
  };
  const error = save.error ?? (result ? undefined : test.error);
  const issues = error instanceof PanelFailure ? error.issues : [];
  const problemOf = (field: ReturnType<typeof fieldOfIssue>) => {
    const issue = issues.find(({ path }) => fieldOfIssue(path) === field);
    return issue ? { problem: saidAt(issue) } : {};
  };
  const isPlaceWrong = typed.place.trim() !== '' && !body;
  return (
    <Form className="stack node-form" onSubmit={submit}>
      {theirs && (
        <NodeConflict
          before={base.typed}
          mine={typed}
          theirs={theirs.typed}
          choose={(merged) => {
            draft.set({ typed: merged, base: theirs });
            setTheirs(undefined);
            save.reset();
          }}
        />
      )}
      <Field
        label={say('nodes.field.name')}
        value={typed.name}
        onChange={(name) => set({ name })}
        maxLength={64}
        isRequired
        {...problemOf('name')}
      />
      <Field
        label={say('nodes.field.place')}
        hint={say('nodes.field.placeHint')}
        placeholder="https://paris.example.com:2053/base/"
        value={typed.place}
        onChange={(place) => set({ place })}
        maxLength={600}
        isRequired
        isPlain
        {...(isPlaceWrong ? { problem: say('nodes.field.placeWrong') } : problemOf('place'))}
      />
      <Field
        label={say('nodes.field.token')}
        hint={say(hasToken ? 'nodes.field.tokenStored' : 'nodes.field.tokenHint')}
        type="password"
        autoComplete="off"
        value={token}
        onChange={setToken}
        maxLength={4096}
        isRequired={!hasToken && typed.tlsVerifyMode !== 'mtls'}
        isPlain
        {...problemOf('token')}
      />
      <label className="tick">
        <input
          type="checkbox"
          checked={typed.allowPrivateAddress}
          onChange={({ target }) => set({ allowPrivateAddress: target.checked })}
        />
        {say('nodes.field.private')}
      </label>
      <details className="fold">
        <summary>{say('nodes.more')}</summary>
        <div className="stack">
          <Field
            label={say('nodes.field.remark')}
            value={typed.remark}
            onChange={(remark) => set({ remark })}
            maxLength={256}
          />
          <Choice
            label={say('nodes.field.tls')}
            value={typed.tlsVerifyMode}
            options={TLS.map(([value, text]) => ({ value, text: say(text) }))}
            choose={(tlsVerifyMode) => set({ tlsVerifyMode })}
          />
          {typed.tlsVerifyMode === 'skip' && <p className="field-problem">{say('nodes.tls.skipCost')}</p>}
          <Field
            label={say('nodes.field.pin')}
            hint={say('nodes.field.pinHint')}
            value={typed.pinnedCertSha256}
            onChange={(pinnedCertSha256) => set({ pinnedCertSha256 })}
            maxLength={128}
            isPlain
            {...problemOf('pin')}
          />
          <Field
            label={say('nodes.field.outbound')}
            hint={say('nodes.field.outboundHint')}
            value={typed.outboundTag}
            onChange={(outboundTag) => set({ outboundTag })}
            maxLength={255}
            isPlain
          />
        </div>
      </details>
      <Adopted typed={typed} set={set} body={isWell ? body : undefined} id={id} />
      <div role="status" className="stack">
        {isWell && result && (
          <p className="node-level" data-level="good">
            <span className="dot" aria-hidden />
            {say('nodes.answered', {
              version: shownName(result.panelVersion),
              ms: format.number(result.latencyMs),
            })}
          </p>
        )}
        {result && !isWell && (
          <p className="node-level" data-level="bad">
            <span className="dot" aria-hidden />
            {say('nodes.noAnswer')} <bdi>{shownName(result.error)}</bdi>
          </p>
        )}
        {isWell && result?.engineError !== '' && (
          <p className="said" dir="auto">
            {result?.engineError}
          </p>
        )}
      </div>
      {error && !theirs && <Problem error={error} />}
      <div className="actions end">
        <Button className="button" onPress={cancel}>
          {say('cancel')}
        </Button>
        {isWell && (
          <Button className="button" isPending={test.isPending} onPress={() => test.mutate()}>
            {say('nodes.test')}
          </Button>
        )}
        {id !== undefined && !isWell && (
          <Button
            className="button"
            isPending={save.isPending}
            isDisabled={!body}
            onPress={() => !isBusy && save.mutate()}
          >
            {say('nodes.saveUntested')}
          </Button>
        )}
        <Button type="submit" className="button main" isPending={isBusy}>
          {say(isWell ? (id === undefined ? 'nodes.add' : 'save') : 'nodes.test')}
        </Button>
      </div>
    </Form>
  );
}
