// A text to copy. Without HTTPS browsers forbid it: then the text is selected, and nothing claims to be copied.
import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';

const SHOWN_MS = 3_000;

export function Copy({ text, label }: { text: string; label: string }) {
  const { say } = useReader();
  const [outcome, setOutcome] = useState<'copied' | 'selected'>();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('copied');
    } catch {
      field.current?.focus();
      field.current?.select();
      setOutcome('selected');
    }
  };
  return (
    <div className="copy">
      <label htmlFor={id} className="unseen">
        {label}
      </label>
      <textarea id={id} ref={field} className="input" dir="ltr" readOnly rows={4} value={text} />
      <Button className="button" onPress={() => void copy()}>
        {outcome === 'copied' ? <Check size={16} aria-hidden /> : <CopyIcon size={16} aria-hidden />}
        {say('copy')}
      </Button>
      <span className="hint" role="status">
        {outcome === 'copied' && say('copy.done')}
        {outcome === 'selected' && say('copy.selected')}
      </span>
    </div>
  );
}
