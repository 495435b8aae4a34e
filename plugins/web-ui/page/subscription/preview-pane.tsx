// What one client gets from the subscription server: by format and program, with headers, body, address and QR code.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { shownName } from '../format/names.js';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Copy } from '../parts/copy.js';
import { Problem } from '../parts/problem.js';
import { QrCode } from '../parts/qr-code.js';
import { Changes } from './changes.js';
import {
  headerRows,
  lineChanges,
  lineCount,
  type Preview,
  PROGRAMS,
  shownBody,
  wholeText,
} from './preview.js';
import { previewQuery, urlsQuery } from './queries.js';
import { TrialNotes } from './trial-notes.js';
import { useTrial } from './use-trial.js';
import './subscription.css';

export interface PreviewPaneProps {
  readonly email: string;
  /** how often settings were saved beside it: what the last save has changed is shown */
  readonly saves?: number;
  /** settings that are typed and not saved: what they would change is shown */
  readonly unsaved?: Values;
}
const NOTHING: Values = {};

export function PreviewPane({ email, saves = 0, unsaved = NOTHING }: PreviewPaneProps) {
  const { say } = useReader();
  const [format, setFormat] = useState('');
  const [agent, setAgent] = useState('');
  const urls = useQuery(urlsQuery(email));
  const asked = { email, format, agent };
  // What is not saved may serve a format that the panel does not serve now.
  const isServed = format === '' || urls.data?.some((one) => one.format === format) !== false;
  const preview = useQuery({ ...previewQuery(asked), enabled: isServed });
  const changes = useChanges(
    JSON.stringify(asked),
    saves,
    preview.isPlaceholderData ? undefined : preview.data,
  );
  const trial = useTrial(asked, unsaved);
  const shown = trial?.reply ?? preview.data;
  const formats = urls.data ?? [];
  const isTrial = trial !== undefined;
  useEffect(() => {
    if (!isTrial && !isServed) setFormat('');
  }, [isTrial, isServed]);
  const names = [...new Set([...formats.map((one) => one.format), ...(trial?.reply?.formats ?? [])])];
  const failed = [urls, preview].find(({ error }) => error !== null);
  const address = (format === '' ? formats[0] : formats.find((one) => one.format === format))?.url;
  return (
    <div className="stack preview">
      <div className="fields">
        <Choice
          label={say('preview.format')}
          value={format}
          options={[
            { value: '', text: say('preview.standard') },
            ...names.map((name) => ({ value: name, text: name })),
          ]}
          choose={setFormat}
        />
        <Choice
          label={say('preview.program')}
          value={agent}
          options={[
            { value: '', text: say('preview.noProgram') },
            ...PROGRAMS.map(([text, value]) => ({ value, text })),
          ]}
          choose={setAgent}
        />
      </div>
      {failed && <Problem error={failed.error} retry={() => void failed.refetch()} />}
      {urls.data?.length === 0 && <p className="hint">{say('preview.none')}</p>}
      {!failed && preview.isPending && <p role="status">{say('loading')}</p>}
      {trial ? (
        <TrialNotes trial={trial} stored={preview.isPlaceholderData ? undefined : preview.data} />
      ) : (
        changes && (
          <Changes
            {...changes}
            label={say('preview.changes')}
            said={say('preview.changed', { count: lineCount(changes) })}
          />
        )
      )}
      {shown && <Reply preview={shown} isOld={trial ? trial.isWaiting : preview.isPlaceholderData} />}
      {address !== undefined && (
        <details className="fold">
          <summary>{say('preview.address')}</summary>
          <div className="link">
            <QrCode text={address} label={say('links.qrOf', { name: say('preview.address') })} />
            <Copy text={address} label={say('preview.address')} />
          </div>
        </details>
      )}
    </div>
  );
}

function Reply({ preview, isOld }: { preview: Preview; isOld: boolean }) {
  const { say, format } = useReader();
  const { status, format: name, rule, headers, body } = preview;
  const { text, isEncoded } = shownBody(body);
  const rows = headerRows(headers);
  return (
    <div className="stack" aria-busy={isOld}>
      <p className="actions" role="status">
        {status === 200 ? (
          <span>
            {say('preview.gets', {
              format: name,
              lines: text.trim() === '' ? 0 : text.trim().split('\n').length,
            })}
          </span>
        ) : (
          <span className="field-problem">{say('preview.refused', { status: format.number(status) })}</span>
        )}
        {rule !== null && <span className="tag">{say('preview.rule', { number: rule + 1 })}</span>}
        {isEncoded && <span className="tag">{say('preview.encoded')}</span>}
      </p>
      {status === 200 && <Copy text={text} label={say('preview.body')} />}
      {rows.length > 0 && (
        <details className="fold">
          <summary>{say('preview.headers', { count: rows.length })}</summary>
          <dl className="preview-headers" dir="ltr">
            {rows.map((row) => (
              <div key={row.name}>
                <dt>{row.name}</dt>
                <dd>{shownName(row.value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

/** What the last save has changed of what is shown; undefined before a save, and after another choice. */
function useChanges(key: string, saves: number, preview: Preview | undefined) {
  const text = preview && wholeText(preview);
  const latest = useRef({ key, text });
  const counted = useRef(saves);
  const [before, setBefore] = useState<{ readonly key: string; readonly text: string }>();
  useEffect(() => {
    if (saves !== counted.current && latest.current.key === key && latest.current.text !== undefined)
      setBefore({ key, text: latest.current.text });
    counted.current = saves;
    if (text !== undefined) latest.current = { key, text };
  }, [key, saves, text]);
  if (!before || before.key !== key || text === undefined) return undefined;
  return lineChanges(before.text, text);
}
