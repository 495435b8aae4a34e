// What is to be known of a preview with settings that are not saved: what they change, what is refused, what is not in it.
import { PanelFailure } from '../../../../sdk/failure.js';
import { saidAt } from '../api/trouble.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { settingOf } from '../system/setting-fields.js';
import { Changes } from './changes.js';
import { lineChanges, lineCount, type Preview, wholeText } from './preview.js';
import type { Trial } from './use-trial.js';

const FORBIDDEN = 403;
const MOST_ISSUES = 5;

export function TrialNotes({ trial, stored }: { trial: Trial; stored: Preview | undefined }) {
  const { say } = useReader();
  const { reply, error } = trial;
  if (error instanceof PanelFailure && error.status === FORBIDDEN)
    return (
      <p className="hint" role="status">
        {say('preview.trialFull')}
      </p>
    );
  const issues = error instanceof PanelFailure ? error.issues : [];
  const changes = reply && stored ? lineChanges(wholeText(stored), wholeText(reply)) : undefined;
  return (
    <>
      {error && issues.length === 0 && <Problem error={error} />}
      {issues.length > 0 && (
        <div className="field-problem" role="status">
          <p>{say('preview.trialRefused')}</p>
          <ul>
            {issues.slice(0, MOST_ISSUES).map((issue) => (
              <li key={issue.path} dir="auto">
                <bdi>{settingOf(issue.path)}</bdi>: {saidAt(issue)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {reply && <p className="hint">{say('preview.trial')}</p>}
      {changes && (
        <Changes
          {...changes}
          label={say('preview.trial')}
          said={say('preview.trialChanged', { count: lineCount(changes) })}
        />
      )}
      {reply && reply.without.length > 0 && (
        <p className="hint">{say('preview.trialWithout', { names: reply.without.join(', ') })}</p>
      )}
      {reply && reply.unfetched.length > 0 && (
        <p className="hint">{say('preview.trialUnfetched', { names: reply.unfetched.join(', ') })}</p>
      )}
    </>
  );
}
