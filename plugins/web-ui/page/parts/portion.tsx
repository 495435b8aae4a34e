// A long list, of which a part is shown: rows that are not there cost nothing, and others may have filled it.
import { type ReactNode, useState } from 'react';
import { Button } from 'react-aria-components';
import { useReader } from '../language/context.js';

const USUAL = 100;

export interface Portion<T> {
  readonly shown: readonly T[];
  /** the button that shows more; null where all is shown */
  readonly more: ReactNode;
}

/** The first `size` of a list, and as many more with each press. */
export function usePortion<T>(list: readonly T[], size = USUAL): Portion<T> {
  const { say, format } = useReader();
  const [most, setMost] = useState(size);
  const left = list.length - most;
  if (left <= 0) return { shown: list, more: null };
  return {
    shown: list.slice(0, most),
    more: (
      <div className="actions">
        <Button className="button" onPress={() => setMost(most + size)}>
          {say('list.more', { count: format.number(left) })}
        </Button>
      </div>
    ),
  };
}
