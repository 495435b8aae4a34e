// What was typed, once typing rests: each letter is not a call.
import { useEffect, useState } from 'react';

const REST_MS = 150;

export function useRested(typed: string): string {
  const [rested, setRested] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setRested(typed), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return rested;
}
