// A call that failed: what happened, what to do, another try, and a code to copy.
import { CircleAlert } from 'lucide-react';
import { Button } from 'react-aria-components';
import { troubleOf } from '../api/trouble.js';
import { useReader } from '../language/context.js';

export function Problem({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const { say, format } = useReader();
  const { text, said, code, waitMs } = troubleOf(error);
  return (
    <div className="problem" role="alert">
      <CircleAlert size={20} aria-hidden />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        <p>{say(text)}</p>
        {said !== '' && (
          <p className="said" dir="auto">
            {said}
          </p>
        )}
        {waitMs !== undefined && <p>{say('trouble.wait', { time: format.duration(waitMs) })}</p>}
        <div className="actions">
          {retry && (
            <Button className="button small" onPress={retry}>
              {say('retry')}
            </Button>
          )}
          <code dir="ltr">{code}</code>
        </div>
      </div>
    </div>
  );
}
