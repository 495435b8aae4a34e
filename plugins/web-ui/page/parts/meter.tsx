// How much of something is used.
import { useReader } from '../language/context.js';

export interface MeterProps {
  /** from 0 to 1; more is full */
  readonly share: number;
  readonly label: string;
  /** high is bad, as for a processor */
  readonly isLoad?: boolean;
}

const NEAR = 0.8;
const FULL = 0.95;

export function Meter({ share, label, isLoad }: MeterProps) {
  const { format } = useReader();
  const shown = Math.min(1, Math.max(0, share));
  const level = shown >= (isLoad ? FULL : 1) ? 'bad' : shown >= NEAR ? 'warn' : 'good';
  return (
    <progress
      className="meter"
      data-level={level}
      max={1000}
      value={Math.round(shown * 1000)}
      aria-label={label}
      aria-valuetext={format.percent(share)}
    />
  );
}
