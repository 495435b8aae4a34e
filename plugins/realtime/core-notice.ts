// The notifications about the core and about alarms.
import type { Alarm } from '../alarms/contract.js';
import type { EngineState } from '../engine/contract.js';

export interface Notice {
  readonly title: string;
  readonly message: string;
  readonly level: 'success' | 'warning';
}
const TITLES: Readonly<Record<EngineState, string>> = {
  running: 'The core is running',
  stop: 'The core is stopped',
  error: 'The core failed',
};

export const RESTARTED: Notice = {
  title: 'The core was restarted',
  message: '',
  level: 'success',
};

export const coreNotice = (state: EngineState, reason: string): Notice => ({
  title: TITLES[state],
  message: reason,
  level: state === 'running' ? 'success' : 'warning',
});

export const alarmNotice = ({ name, isActive, text }: Alarm): Notice => ({
  title: isActive ? `Alarm: ${name}` : `The alarm ${name} is over`,
  message: text,
  level: isActive ? 'warning' : 'success',
});
