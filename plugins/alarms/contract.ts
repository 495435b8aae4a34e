// Alarms: levels of the machine and dates of certificates that need an admin.
import { event, extensionPoint, token } from '../../kernel/index.js';

export interface Alarm {
  /** `cpu`, `memory`, `disk`, `certificate:` with the name of a served certificate, or the name of a watched state */
  readonly name: string;
  readonly isActive: boolean;
  /** Unix ms of the last change; 0 when it was never active */
  readonly since: number;
  /** the last reading: percent, or days that are left; of a state 1 with a problem and 0 without; null where there is none yet */
  readonly value: number | null;
  /** the setting above which (of days: below which) it becomes active; 0: never */
  readonly limit: number;
  /** one sentence for display; blank while it is not active */
  readonly text: string;
}
export interface AlarmsApi {
  list(): readonly Alarm[];
}
export const Alarms = token<AlarmsApi>('alarms', 'Alarms');

/** An alarm became active, or is over. Emitted once for each change, not again after a restart of the panel; also while the database fails. */
export const alarmChanged = event<{ readonly alarm: Alarm; readonly at: number }>('alarms/alarmChanged');

/** A certificate that the panel's machine serves. */
export interface ServedCertificate {
  /** short name for display, like `panel` */
  readonly name: string;
  /** the date until which it is valid, as text of RFC 3339; blank while none is served */
  readonly validTo: () => string;
}
const NAME = /^[a-z0-9][a-z0-9.-]{0,63}$/;
/** Certificates whose end is watched, beside that of the panel; called once an hour. */
export const ServedCertificates = extensionPoint<ServedCertificate>(
  'alarms',
  'ServedCertificates',
  ({ name, validTo }, _, others) => {
    if (typeof name !== 'string' || !NAME.test(name) || name === 'panel')
      return 'the name of a certificate is small letters, digits, dots and hyphens, and not panel';
    if (typeof validTo !== 'function') return `the certificate ${name} needs the function validTo`;
    const other = others.find(({ value }) => value.name === name);
    return other && `the certificate ${name} already exists, in plugin ${other.plugin}; choose another name`;
  },
);

/** Something that works or does not, such as the backups of a panel. */
export interface WatchedState {
  /** short name for display, like `backup` */
  readonly name: string;
  /** One sentence that says what is wrong; blank while nothing is. */
  readonly problem: () => string;
}
const MEASURED = ['cpu', 'memory', 'disk'];
/** States that raise an alarm while they have a problem; called every ten seconds. */
export const WatchedStates = extensionPoint<WatchedState>(
  'alarms',
  'WatchedStates',
  ({ name, problem }, _, others) => {
    if (typeof name !== 'string' || !NAME.test(name) || MEASURED.includes(name))
      return `the name of a state is small letters, digits, dots and hyphens, and not ${MEASURED.join(', ')}`;
    if (typeof problem !== 'function') return `the state ${name} needs the function problem`;
    const other = others.find(({ value }) => value.name === name);
    return other && `the state ${name} already exists, in plugin ${other.plugin}; choose another name`;
  },
);
