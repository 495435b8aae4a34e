// One call that reads, with its parameters: as a command, and tried with the session of the reader.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { limitedText } from '../api/limited-text.js';
import { panelUrl, session } from '../api/panel.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { commandOf, foundCalls, type Operation, type Parameter, pathOf, shownReply } from './operations.js';

const MOST_OFFERED = 50;
/** Bytes of a reply: some calls send the whole database. */
const MOST_REPLY = 16 * 1024 * 1024;
/** It takes nothing, and says something on each panel. */
const FIRST = 'server.status';

interface Reply {
  readonly status: number;
  readonly ms: number;
  readonly type: string;
  readonly text: string;
}

async function call(url: string): Promise<Reply> {
  const begun = performance.now();
  const response = await session.fetch(url, {});
  const text = await limitedText(response, MOST_REPLY);
  if (text === undefined) throw new Error(`the reply has more than ${MOST_REPLY / 1024 / 1024} MiB`);
  return {
    status: response.status,
    ms: Math.round(performance.now() - begun),
    type: response.headers.get('content-type') ?? '',
    text,
  };
}

export function TryCall({ calls }: { calls: readonly Operation[] }) {
  const { say } = useReader();
  const [search, setSearch] = useState('');
  const [name, setName] = useState(FIRST);
  const found = foundCalls(calls, search);
  const chosen = found.find((one) => one.name === name) ?? found[0];
  const more = Math.max(0, found.length - MOST_OFFERED);
  const offered = found.slice(0, MOST_OFFERED);
  const all = chosen && !offered.includes(chosen) ? [chosen, ...offered] : offered;
  return (
    <>
      <div className="fields">
        <Field label={say('api.search')} type="search" value={search} onChange={setSearch} isPlain />
        {chosen && (
          <Choice
            label={say('api.call')}
            value={chosen.name}
            options={all.map((one) => ({ value: one.name, text: one.name }))}
            choose={setName}
          />
        )}
      </div>
      {more > 0 && <p className="hint">{say('api.more', { count: more })}</p>}
      {!chosen && <p className="muted">{say('api.noCall')}</p>}
      {chosen && <CallForm key={chosen.name} operation={chosen} />}
    </>
  );
}

function CallForm({ operation }: { operation: Operation }) {
  const { say, format } = useReader();
  const { path, about, parameters } = operation;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const filled = pathOf(operation, values);
  const url = filled === undefined ? undefined : new URL(filled, panelUrl).href;
  const send = useMutation({ mutationFn: call, gcTime: 0 });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (url !== undefined && !send.isPending) send.mutate(url);
  };
  const set = (name: string) => (value: string) => setValues((now) => ({ ...now, [name]: value }));
  return (
    <Form className="stack" onSubmit={submit} aria-label={say('api.try')}>
      <p>
        <code dir="ltr">GET {path}</code>
      </p>
      {/* The words of the panel are English. */}
      {about !== '' && (
        <p className="hint" lang="en" dir="ltr">
          {about}
        </p>
      )}
      {parameters.length > 0 && (
        <div className="fields">
          {parameters.map((parameter) => (
            <Input
              key={parameter.name}
              parameter={parameter}
              value={values[parameter.name] ?? ''}
              set={set(parameter.name)}
            />
          ))}
        </div>
      )}
      {url !== undefined && <Copy text={commandOf(url)} label={say('api.command')} />}
      <div className="actions">
        <Button
          type="submit"
          className="button main"
          isPending={send.isPending}
          isDisabled={url === undefined}
        >
          {say('api.send')}
        </Button>
        {send.data && (
          <span role="status">
            {say('api.answered', { status: String(send.data.status), ms: format.number(send.data.ms) })}
          </span>
        )}
      </div>
      {send.error && <Problem error={send.error} />}
      {send.data && <Shown reply={send.data} />}
    </Form>
  );
}

function Input({
  parameter: { name, about, options, isRequired },
  value,
  set,
}: {
  parameter: Parameter;
  value: string;
  set: (value: string) => void;
}) {
  const { say } = useReader();
  if (options.length > 0)
    return (
      <Choice
        label={name}
        value={value}
        options={[
          { value: '', text: say('forms.unset') },
          ...options.filter((one) => one !== '').map((one) => ({ value: one, text: one })),
        ]}
        choose={set}
      />
    );
  return (
    <Field
      label={name}
      value={value}
      onChange={set}
      isRequired={isRequired}
      isPlain
      {...(about !== '' && { hint: about })}
    />
  );
}

function Shown({ reply: { text, type } }: { reply: Reply }) {
  const { say, format } = useReader();
  const shown = shownReply(text, type);
  if (shown.text === '' && text !== '') return <p className="hint">{say('api.noText', { type })}</p>;
  return (
    <div className="stack api-reply">
      <Copy text={shown.text} label={say('api.reply')} />
      {shown.more > 0 && <p className="hint">{say('api.cut', { count: format.number(shown.more) })}</p>}
    </div>
  );
}
