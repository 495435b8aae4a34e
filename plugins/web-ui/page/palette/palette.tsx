// Goes to pages and to what has a name, and does what is done most, by the keyboard alone.
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { NewClient } from '../clients/new-client.js';
import { CoreDialog } from '../dashboard/core-dialog.js';
import { useCoreAct } from '../dashboard/core-act.js';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { useRested } from '../parts/rested.js';
import { Sheet } from '../parts/sheet.js';
import { type Command, type Following, useActions, useFound, usePages } from './commands.js';
import { matching, moved } from './entries.js';
import './palette.css';

const LONGEST = 255;

export interface PaletteProps {
  readonly close: () => void;
  readonly showKeys: () => void;
}

export function Palette({ close, showKeys }: PaletteProps) {
  const [following, setFollowing] = useState<Following>();
  if (following === 'newClient') return <NewClient isOpen close={close} />;
  if (following === 'restart') return <Restart close={close} />;
  return <Search close={close} showKeys={showKeys} follow={setFollowing} />;
}

function Restart({ close }: { close: () => void }) {
  const { work } = useCoreAct(close);
  return (
    <CoreDialog
      act="restart"
      isBusy={work.isPending}
      error={work.error}
      run={(act) => work.mutate(act)}
      close={close}
    />
  );
}

function Search({ close, showKeys, follow }: PaletteProps & { follow: (next: Following) => void }) {
  const { say } = useReader();
  const id = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const { found: named, failed, isFetching } = useFound(useRested(typed.trim()));
  const fixed = [...usePages(), ...useActions(showKeys, follow)];
  const found: readonly Command[] = [...matching(fixed, typed), ...named];
  const current = Math.min(at, found.length - 1);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    // These leave a dialog open in place of the palette.
    if (command.id !== 'new-client' && command.id !== 'restart') close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const to = moved(event.key, current, found.length);
    if (to !== undefined) setAt(to);
    else if (event.key === 'Enter') run(found[current]);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, current]);
  return (
    <Sheet title={say('palette.title')} isOpen close={close}>
      <div className="palette">
        <input
          className="input"
          type="text"
          role="combobox"
          dir="auto"
          // biome-ignore lint/a11y/noAutofocus: the palette is opened to type into it
          autoFocus
          maxLength={LONGEST}
          value={typed}
          placeholder={say('palette.hint')}
          aria-label={say('palette.hint')}
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={current >= 0 ? `${id}-${current}` : undefined}
          onChange={({ target }) => {
            setTyped(target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        {failed && <Problem error={failed.error} retry={() => void failed.refetch()} />}
        <div id={`${id}-list`} role="listbox" aria-label={say('palette.found')} className="palette-list">
          {found.map((command, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys belong to the field
            <div
              key={command.id}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              className="palette-entry"
              onClick={() => run(command)}
            >
              <bdi className="clip">{command.text}</bdi>
              <span className="muted">{say(`palette.kind.${command.kind}`)}</span>
            </div>
          ))}
        </div>
        <p className="muted" role="status">
          {found.length > 0
            ? say('palette.count', { count: found.length })
            : say(isFetching ? 'loading' : 'palette.none')}
        </p>
      </div>
    </Sheet>
  );
}
