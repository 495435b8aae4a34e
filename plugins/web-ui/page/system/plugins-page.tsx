// The plugins with their state; each can be switched off, and one that is off by its name.
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isolated, shownName } from '../format/names.js';
import { useReader } from '../language/context.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { Sheet } from '../parts/sheet.js';
import { type ListedPlugin, levelOf, shownPlugins } from './plugin-state.js';
import { pluginStatesQuery } from './queries.js';

interface Change {
  readonly name: string;
  readonly enable: boolean;
}

export function PluginsPage() {
  const { say } = useReader();
  const plugins = useQuery(pluginStatesQuery);
  const [search, setSearch] = useState('');
  const [name, setName] = useState('');
  const [asked, setAsked] = useState<Change>();
  const ask = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') setAsked({ name: name.trim(), enable: true });
  };
  const shown = shownPlugins(plugins.data ?? [], search);
  return (
    <div className="stack">
      <p className="muted">{say('system.pluginsAbout')}</p>
      <div className="system-forms">
        <Field label={say('system.search')} type="search" value={search} onChange={setSearch} />
        <Form className="system-add" onSubmit={ask}>
          <Field
            label={say('system.pluginName')}
            hint={say('system.pluginNameHint')}
            value={name}
            onChange={setName}
            maxLength={255}
            isPlain
          />
          <Button type="submit" className="button">
            {say('system.switchOn')}
          </Button>
        </Form>
      </div>
      {plugins.error && <Problem error={plugins.error} retry={() => void plugins.refetch()} />}
      {plugins.isPending && <p className="muted">{say('loading')}</p>}
      {plugins.data && shown.length === 0 && <p className="muted">{say('system.noPlugin')}</p>}
      <ul className="system-list">
        {shown.map((plugin) => (
          <PluginEntry key={plugin.name} plugin={plugin} ask={setAsked} />
        ))}
      </ul>
      <SwitchDialog
        change={asked}
        close={() => setAsked(undefined)}
        // One that is off is not in the list: its name waits for whoever wants it back.
        done={({ name: changed, enable }) => setName(enable ? '' : changed)}
      />
    </div>
  );
}

function PluginEntry({ plugin, ask }: { plugin: ListedPlugin; ask: (change: Change) => void }) {
  const { say } = useReader();
  const { name, version, waiting, about, outside, state, reason } = plugin;
  const isOn = state === 'running' || state === 'starting' || state === 'built';
  return (
    <li className="card" data-plugin={name}>
      <div className="card-head">
        <h2>
          <bdi dir="ltr">{shownName(name)}</bdi>
        </h2>
        <span className="system-state" data-level={levelOf(plugin)}>
          <span className="dot" aria-hidden />
          {say(`system.state.${state}`)}
        </span>
      </div>
      <p className="said" dir="auto">
        {shownName(about)}
      </p>
      {reason !== '' && (
        <p className="said" data-reason dir="auto">
          {reason}
        </p>
      )}
      <div className="actions">
        {version !== '' && (
          <span className="tag" dir="ltr">
            {shownName(version)}
          </span>
        )}
        {waiting !== '' && <span className="tag">{say('system.waits', { version: isolated(waiting) })}</span>}
        {outside && <span className="tag">{say('system.outside')}</span>}
        {!isOn && state !== 'switching' && (
          <Button
            className="button small"
            aria-label={say('system.switchOnOf', { name: isolated(name) })}
            onPress={() => ask({ name, enable: true })}
          >
            {say('system.switchOn')}
          </Button>
        )}
        {state !== 'switching' && (
          <Button
            className="button small"
            aria-label={say('system.switchOffOf', { name: isolated(name) })}
            onPress={() => ask({ name, enable: false })}
          >
            {say('system.switchOff')}
          </Button>
        )}
      </div>
    </li>
  );
}

/** The panel says who needs the plugin, if that forbids it. */
function SwitchDialog({
  change,
  close,
  done,
}: {
  change: Change | undefined;
  close: () => void;
  done: (change: Change) => void;
}) {
  const { say } = useReader();
  const run = useMutation({
    mutationFn: ({ name, enable }: Change) => weir.system.plugins.setEnable({ name, body: { enable } }),
    onSuccess: ({ restarting }, switched) => {
      notify(say(restarting ? 'system.restarts' : 'system.nothingToDo'));
      void queries.invalidateQueries({ queryKey: ['plugins'] });
      done(switched);
      close();
    },
  });
  const leave = () => {
    run.reset();
    close();
  };
  const act = change?.enable ? 'system.switchOn' : 'system.switchOff';
  return (
    <Sheet
      title={
        change ? say(change.enable ? 'system.askOn' : 'system.askOff', { name: isolated(change.name) }) : ''
      }
      isOpen={change !== undefined}
      {...(!run.isPending && { close: leave })}
      role="alertdialog"
    >
      <p>{say('system.cost')}</p>
      {change?.name === 'web-ui' && !change.enable && <strong>{say('system.costPage')}</strong>}
      {run.error && <Problem error={run.error} />}
      <div className="actions end">
        <Button className="button" onPress={leave} isDisabled={run.isPending}>
          {say('cancel')}
        </Button>
        <Button
          className={change?.enable ? 'button main' : 'button risky'}
          isPending={run.isPending}
          onPress={() => change && run.mutate(change)}
        >
          {say(act)}
        </Button>
      </div>
    </Sheet>
  );
}
