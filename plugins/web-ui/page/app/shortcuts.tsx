// Single keys that work on every page, and the dialog that lists them all.
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { usePreferences, useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { Sheet } from '../parts/sheet.js';

const KEYS: readonly (readonly [string, MessageKey])[] = [
  ['/', 'keys.search'],
  ['j', 'keys.next'],
  ['k', 'keys.previous'],
  ['Enter', 'keys.open'],
  ['e', 'keys.edit'],
  ['n', 'keys.new'],
  ['x', 'keys.choose'],
  ['?', 'keys.help'],
  ['Ctrl K, ⌘ K', 'keys.palette'],
];

/** Whether a key is typed into something, or belongs to a dialog. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]') !== null;

/** Calls `act` for a single key without modifiers, unless the reader has switched them off; `act` returns whether it did something. */
export function useSingleKeys(act: (key: string) => boolean): void {
  const { singleKeys } = usePreferences();
  useEffect(() => {
    if (!singleKeys) return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event.target))
        return;
      if (act(event.key)) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [act, singleKeys]);
}

export function useShortcuts() {
  const navigate = useNavigate();
  const [isShown, setShown] = useState(false);
  const act = useCallback(
    (key: string): boolean => {
      if (key === '?') setShown(true);
      else if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('input[type=search]');
        if (field) field.focus();
        else void navigate({ to: '/clients' });
      } else return false;
      return true;
    },
    [navigate],
  );
  useSingleKeys(act);
  return { isShown, show: () => setShown(true), hide: () => setShown(false) };
}

export function ShortcutHelp({ isShown, hide }: { isShown: boolean; hide: () => void }) {
  const { say } = useReader();
  return (
    <Sheet title={say('keys.title')} isOpen={isShown} close={hide}>
      <dl className="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{say(text)}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
