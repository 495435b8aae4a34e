// What was typed, once typing rests: each letter is not a call.
import { useEffect, useState } from 'react';

const REST_MS = 150;

/** `restMs`: longer for what costs the panel more than a search */
export function useRested(typed: string, restMs = REST_MS): string {
  const [rested, setRested] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), restMs);
    return () => clearTimeout(timer);
  }, [typed, restMs]);
  return rested;
}
