// What is offered only to who may do it.
import type { ReactNode } from 'react';
import type { Needed } from '../api/may.js';
import { useMay } from '../api/rights.js';

export function Permitted({ needs, children }: { needs: readonly Needed[]; children: ReactNode }) {
  const may = useMay();
  return needs.every(may) ? children : null;
}
