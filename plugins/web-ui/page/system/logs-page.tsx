// The logs of the panel and of the core, as they are written: level, search, pause, copy, download.
import { useIsRunning } from '../api/running.js';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Copy, Download, Pause, Play } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { notify } from '../parts/notices.js';
import { Problem } from '../parts/problem.js';
import { saveFile } from '../parts/save-file.js';
import { found, type LogLine } from './log-lines.js';
import { LogList } from './log-list.js';
import { useLog } from './use-log.js';
import { COUNTS, LEVELS, LOGS, LONGEST_SEARCH, type LogView, logViewOf, WAYS } from './log-view.js';
import './logs.css';

const route = getRouteApi('/admin/system/logs');
const SEARCH_MS = 300;
const PLUGIN = { panel: 'panel-logs', journal: 'panel-logs', core: 'engine-logs' } as const;
const NONE: readonly LogLine[] = [];

export function LogsPage() {
  const { say } = useReader();
  const view = route.useSearch();
  const navigate = useNavigate();
  const [isLive, setLive] = useState(true);
  const log = useLog(view, isLive);
  const lines = log.lines ?? NONE;
  // The panel searches the log of the core.
  const search = useDeferredValue(view.log === 'core' ? '' : (view.search ?? ''));
  const shown = useMemo(() => found(lines, search), [lines, search]);
  const show = (part: Readonly<Record<string, string>>, isTyping = false): void =>
    void navigate({ to: '/system/logs', search: logViewOf({ ...view, ...part }), replace: isTyping });
  const name = view.log ?? 'panel';
  const isRunning = useIsRunning();
  const offered = LOGS.filter((one) => one === name || isRunning(PLUGIN[one], true));
  return (
    <div className="stack logs">
      <div className="log-choices">
        <Choice
          label={say('logs.log')}
          value={name}
          options={offered.map((value) => ({ value, text: say(`logs.log.${value}`) }))}
          choose={(value) => show({ log: value })}
        />
        {name === 'core' ? (
          <Choice
            label={say('logs.way')}
            value={view.way ?? ''}
            options={[
              { value: '', text: say('filter.all') },
              ...WAYS.map((value) => ({ value, text: say(`logs.way.${value}`) })),
            ]}
            choose={(way) => show({ way })}
          />
        ) : (
          <Choice
            label={say('logs.level')}
            value={view.level ?? 'info'}
            options={LEVELS.map((value) => ({ value, text: say(`logs.level.${value}`) }))}
            choose={(level) => show({ level })}
          />
        )}
        <Choice
          label={say('logs.lines')}
          value={view.lines ?? '500'}
          options={COUNTS.map((value) => ({ value, text: say('logs.last', { count: Number(value) }) }))}
          choose={(count) => show({ lines: count })}
        />
        <Search view={view} show={show} />
      </div>
      <div className="log-head">
        <p className="muted" role="status">
          {!log.lines && !log.error && say('loading')}
          {log.lines && say('logs.count', { shown: shown.length, all: lines.length })}
        </p>
        {isLive && log.lines && (
          <span className="tag">
            {say(log.isStreamed ? 'logs.live' : 'logs.asked', { seconds: log.pauseMs / 1000 })}
          </span>
        )}
        <Actions lines={shown} name={name} isLive={isLive} setLive={setLive} />
      </div>
      {log.error !== undefined && log.error !== null && <Problem error={log.error} retry={log.retry} />}
      {log.lines && shown.length === 0 && (
        <p className="muted">{say(lines.length === 0 ? 'logs.none' : 'logs.noMatch')}</p>
      )}
      {shown.length > 0 && <LogList key={name} lines={shown} label={say(`logs.log.${name}`)} />}
      {name === 'core' && <p className="hint">{say('logs.coreHint')}</p>}
    </div>
  );
}

interface SearchProps {
  readonly view: LogView;
  readonly show: (part: Readonly<Record<string, string>>, isTyping: boolean) => void;
}

/** What is typed stays in the field; the address follows when typing rests. */
function Search({ view, show }: SearchProps) {
  const { say } = useReader();
  const [typed, setTyped] = useState(view.search ?? '');
  const sent = useRef(view.search ?? '');
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    if ((view.search ?? '') === sent.current) return;
    sent.current = view.search ?? '';
    setTyped(sent.current);
  }, [view.search]);
  useEffect(() => {
    if (typed === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = typed;
      latest.current({ search: typed }, true);
    }, SEARCH_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Field
      label={say('logs.search')}
      type="search"
      value={typed}
      onChange={setTyped}
      maxLength={LONGEST_SEARCH}
    />
  );
}

interface ActionsProps {
  readonly lines: readonly LogLine[];
  readonly name: string;
  readonly isLive: boolean;
  readonly setLive: (isLive: boolean) => void;
}

function Actions({ lines, name, isLive, setLive }: ActionsProps) {
  const { say } = useReader();
  const textOf = (): string => lines.map(({ text }) => `${text}\n`).join('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(textOf());
      notify(say('logs.copied', { count: lines.length }));
    } catch {
      // Without HTTPS.
      notify(say('logs.notCopied'));
    }
  };
  const download = (): void => {
    const time = new Date().toISOString().slice(0, 19).replace(/\D/g, '-');
    saveFile(`weir-${name}-${time}.log`, textOf(), 'text/plain;charset=utf-8');
  };
  return (
    <div className="actions">
      <Button className="button" onPress={() => setLive(!isLive)}>
        {isLive ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        {say(isLive ? 'logs.pause' : 'logs.goOn')}
      </Button>
      <Button className="button" isDisabled={lines.length === 0} onPress={() => void copy()}>
        <Copy size={16} aria-hidden />
        {say('copy')}
      </Button>
      <Button className="button" isDisabled={lines.length === 0} onPress={download}>
        <Download size={16} aria-hidden />
        {say('system.download')}
      </Button>
    </div>
  );
}
