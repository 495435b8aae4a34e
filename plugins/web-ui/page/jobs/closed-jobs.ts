// Ended jobs that the reader has closed, in this window.
import { useState } from 'react';

const KEY = 'weir.closedJobs';

function read(): number[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'number') : [];
  } catch {
    return [];
  }
}

export function useClosedJobs(): { closed: ReadonlySet<number>; close: (id: number) => void } {
  const [closed, setClosed] = useState<ReadonlySet<number>>(() => new Set(read()));
  return {
    closed,
    close(id) {
      const next = [...closed, id];
      setClosed(new Set(next));
      try {
        sessionStorage.setItem(KEY, JSON.stringify(next));
      } catch {
        // Forbidden or full: it is shown again after a reload.
      }
    },
  };
}
