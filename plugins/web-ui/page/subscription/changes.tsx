// Lines that are others: of a save, or of what is not saved.
import { useReader } from '../language/context.js';
import { type LineChanges, lineCount } from './preview.js';

const MOST_SHOWN = 20;

export function Changes({ added, removed, label, said }: LineChanges & { label: string; said: string }) {
  const { say } = useReader();
  const more = Math.max(0, added.length - MOST_SHOWN) + Math.max(0, removed.length - MOST_SHOWN);
  return (
    <section className="preview-changes" aria-label={label}>
      <p role="status">{said}</p>
      {lineCount({ added, removed }) > 0 && (
        <ul dir="ltr">
          {removed.slice(0, MOST_SHOWN).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal, and none has a state
            <li key={`- ${index}`}>
              <del>{line}</del>
            </li>
          ))}
          {added.slice(0, MOST_SHOWN).map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines may be equal, and none has a state
            <li key={`+ ${index}`}>
              <ins>{line}</ins>
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p className="hint">{say('preview.moreLines', { count: more })}</p>}
    </section>
  );
}
