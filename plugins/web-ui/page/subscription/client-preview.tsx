// The subscription of one client, on its page. It is asked for when somebody opens it.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';
import { PreviewPane } from './preview-pane.js';

export function ClientPreview({ email }: { email: string }) {
  const { say } = useReader();
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="card" aria-labelledby="preview">
      <div className="card-head">
        <h2 id="preview">{say('preview.title')}</h2>
        <Button
          className="button"
          aria-expanded={isOpen}
          aria-label={say('preview.title')}
          onPress={() => setOpen(!isOpen)}
        >
          {isOpen ? (
            <ChevronDown size={20} aria-hidden />
          ) : (
            <ChevronRight size={20} className="mirrored" aria-hidden />
          )}
        </Button>
      </div>
      {isOpen && <PreviewPane email={email} />}
    </section>
  );
}
