// Short notices at the edge of the page: what was done, and what failed.
import { X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { troubleOf } from '../api/trouble.js';
import { useReader } from '../language/context.js';

export interface NoticeAct {
  readonly text: string;
  readonly run: () => void;
}
interface Notice {
  readonly id: number;
  /** what the reader can do about it */
  readonly act?: NoticeAct | undefined;
  readonly text?: string;
  readonly error?: unknown;
}

const DONE_MS = 6_000;
const ACT_MS = 10_000;
const MOST = 3;
let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function put(next: readonly Notice[]): void {
  notices = next.slice(-MOST);
  for (const listener of listeners) listener();
}
const add = (notice: Omit<Notice, 'id'>): void => put([...notices, { ...notice, id: ++lastId }]);
const remove = (id: number): void => put(notices.filter((notice) => notice.id !== id));
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Something was done: the sentence disappears by itself. */
export const notify = (text: string, act?: NoticeAct): void => add({ text, act });
/** Something failed: it stays until it is closed. */
export const notifyTrouble = (error: unknown): void => add({ error });

export const clearNotices = (): void => put([]);

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map((notice) => (
        <NoticeBox key={notice.id} notice={notice} />
      ))}
    </div>
  );
}

function NoticeBox({ notice }: { notice: Notice }) {
  const { say } = useReader();
  const { id, text, error, act } = notice;
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => remove(id), act ? ACT_MS : DONE_MS);
    return () => clearTimeout(timer);
  }, [id, text, act]);
  const trouble = text === undefined ? troubleOf(error) : undefined;
  return (
    <div className="notice" data-bad={trouble && ''}>
      <div>
        <p dir="auto">{text ?? (trouble && say(trouble.text))}</p>
        {trouble && trouble.said !== '' && (
          <p className="said" dir="auto">
            {trouble.said}
          </p>
        )}
        {trouble && <code dir="ltr">{trouble.code}</code>}
      </div>
      {act && (
        <Button
          className="button small"
          onPress={() => {
            remove(id);
            act.run();
          }}
        >
          {act.text}
        </Button>
      )}
      <Button className="button quiet icon" aria-label={say('close')} onPress={() => remove(id)}>
        <X size={16} aria-hidden />
      </Button>
    </div>
  );
}
