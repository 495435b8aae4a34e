// The page of a plugin, in a frame that has no origin: it reaches neither this page nor the API, but for the bridge.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { pageUrl, session } from '../api/panel.js';
import { shownName } from '../format/names.js';
import { useReader, usePreferences } from '../language/context.js';
import { useColorScheme } from '../parts/color-scheme.js';
import { Bridge, type Context } from './bridge.js';
import { pluginPagesQuery, sendCall, type ShownPage, titleIn } from './queries.js';
import './plugin-pages.css';

const COLORS = ['page', 'surface', 'text', 'muted', 'line', 'accent', 'on-accent', 'good', 'warn', 'bad'];

const DIALOG = '[role=dialog], [role=alertdialog]';

const colorsNow = (): Record<string, string> => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};

export function PluginPagePage() {
  const { say } = useReader();
  const { plugin, page: key } = useSearch({ from: '/admin/plugin-page' });
  const pages = useQuery(pluginPagesQuery);
  const shown = pages.data?.find((page) => page.plugin === plugin && page.key === key);
  // No browser keeps a frame from taking the focus, and with it what is typed: it is not there while a login is open.
  const hasSession = useSyncExternalStore(session.subscribe, session.state).kind === 'in';
  if (shown && hasSession) return <Framed key={`${plugin}/${key}`} shown={shown} />;
  return (
    <div className="page">
      <h1>{say('pluginPages.title')}</h1>
      {hasSession && <p role="status">{say(pages.isPending ? 'loading' : 'pluginPages.gone')}</p>}
    </div>
  );
}

function Framed({ shown }: { shown: ShownPage }) {
  const { say, language } = useReader();
  const theme = useColorScheme(usePreferences().theme);
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<Bridge>(undefined);
  const [subtitle, setSubtitle] = useState('');
  /** why it was taken out */
  const [stopped, setStopped] = useState<'pluginPages.stopped' | 'pluginPages.tookKeys'>();
  const context = useRef<Omit<Context, 'colors'>>(undefined);
  context.current = { theme, language: language.key, dir: language.direction };
  const title = titleIn(shown, language.key);

  // Before the frame is loaded, so that its hello is heard.
  useEffect(() => {
    const made = new Bridge({
      api: shown.api,
      frame: () => frame.current?.contentWindow,
      context: () => ({ ...(context.current as Omit<Context, 'colors'>), colors: colorsNow() }),
      send: sendCall,
      now: () => performance.now(),
      onHeight: (pixels) => {
        if (frame.current) frame.current.height = String(pixels);
      },
      onTitle: setSubtitle,
      onFlood: () => setStopped('pluginPages.stopped'),
    });
    bridge.current = made;
    const look = (): void => {
      // What somebody types into a dialog is not for it.
      if (document.activeElement === frame.current && document.querySelector(DIALOG))
        setStopped('pluginPages.tookKeys');
    };
    addEventListener('blur', look);
    addEventListener('message', made.hear);
    if (frame.current)
      frame.current.src = new URL(`plugin-pages/${shown.plugin}/${shown.key}/${shown.entry}`, pageUrl).href;
    return () => {
      removeEventListener('blur', look);
      removeEventListener('message', made.hear);
      made.end();
    };
  }, [shown.plugin, shown.key, shown.entry, shown.api]);
  // The attribute with the theme is set by an effect of a parent, which runs later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame is told when one of them changes
  useEffect(() => {
    const timer = requestAnimationFrame(() => bridge.current?.tell());
    return () => cancelAnimationFrame(timer);
  }, [theme, language]);

  return (
    <div className="page">
      <h1>
        <bdi>{title}</bdi>
      </h1>
      <p className="muted">
        {say('pluginPages.by')} <bdi dir="ltr">{shown.plugin}</bdi>
        {subtitle !== '' && (
          <>
            {' · '}
            <bdi>{shownName(subtitle)}</bdi>
          </>
        )}
      </p>
      {stopped ? (
        <p role="alert">{say(stopped)}</p>
      ) : (
        <iframe ref={frame} className="plugin-frame" title={title} sandbox="allow-scripts" height="480" />
      )}
    </div>
  );
}
