// A list of short texts: each can be removed, and one more is typed.
import { X } from 'lucide-react';
import { useId, useState } from 'react';
import { Button } from 'react-aria-components';
import { shownName } from '../format/names.js';
import { useReader } from '../language/context.js';

/** Lists of outbounds may bring tens of thousands. */
const MOST_OFFERED = 100;

export interface TagsFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly tags: readonly string[];
  readonly set: (tags: string[]) => void;
  readonly offered: readonly string[];
  readonly problem?: string;
}

export function TagsField({ label, hint, tags, set, offered, problem }: TagsFieldProps) {
  const { say } = useReader();
  const id = useId();
  const [typed, setTyped] = useState('');
  const add = (): void => {
    const tag = typed.trim();
    setTyped('');
    if (tag !== '' && !tags.includes(tag)) set([...tags, tag]);
  };
  return (
    <div className="field" data-invalid={problem === undefined ? undefined : ''}>
      <label htmlFor={id}>{label}</label>
      {tags.length > 0 && (
        <ul className="routing-tags" aria-label={label}>
          {tags.map((tag) => (
            <li key={tag} className="tag">
              <bdi>{shownName(tag)}</bdi>
              <Button
                className="button quiet icon small"
                aria-label={say('routing.tags.remove', { tag: shownName(tag) })}
                onPress={() => set(tags.filter((one) => one !== tag))}
              >
                <X size={14} aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <span className="control">
        <input
          id={id}
          className="input"
          dir="ltr"
          list={`${id}-offered`}
          autoComplete="off"
          maxLength={128}
          aria-describedby={`${id}-hint`}
          aria-invalid={problem !== undefined}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          // What is typed and not added would be lost with the page.
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <Button className="button" onPress={add}>
          {say('routing.tags.add')}
        </Button>
      </span>
      <datalist id={`${id}-offered`}>
        {offered
          .filter((tag) => tag.includes(typed) && !tags.includes(tag))
          .slice(0, MOST_OFFERED)
          .map((tag) => (
            <option key={tag} value={tag} />
          ))}
      </datalist>
      <span id={`${id}-hint`} className="hint">
        {hint}
      </span>
      {problem !== undefined && <span className="field-problem">{problem}</span>}
    </div>
  );
}
