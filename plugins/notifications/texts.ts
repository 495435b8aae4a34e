// The texts of notifications, by event.
import type { Alarm } from '../alarms/contract.js';
import type { Notification } from './contract.js';
import type { EventName } from './settings.js';

type Told = Pick<Notification, 'text' | 'data'> & { readonly event: EventName };

interface Depleted {
  readonly email: string;
  readonly cause: 'quota' | 'expiry';
}
/** Most names in a text; the data has all of them. */
const NAMED = 5;

export function depleted(clients: readonly Depleted[]): Told {
  const names = clients.slice(0, NAMED).map(({ email, cause }) => `${email} (${cause})`);
  if (clients.length > NAMED) names.push(`${clients.length - NAMED} more`);
  return {
    event: 'clientDepleted',
    text: `reached a limit and were disabled: ${names.join(', ')}`,
    data: { clients: clients.map(({ email, cause }) => ({ email, cause })) },
  };
}

interface StateChange {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}
const STATES: Readonly<Record<string, string>> = {
  running: 'the core is running',
  stop: 'the core is stopped',
  error: 'the core failed; restarting it',
};

export const coreState = ({ from, to, reason }: StateChange): Told => ({
  event: 'coreStateChanged',
  text: `${STATES[to] ?? `the core has the state ${to}`}${reason && `: ${reason}`}`,
  data: { from, to, reason },
});

export const blocked = (ip: string, username: string): Told => ({
  event: 'loginBlocked',
  text: `logins from ${ip} are blocked for a while after too many failed attempts, the last as ${JSON.stringify(username)}`,
  data: { ip, username },
});

export const alarmText = (alarm: Alarm): Told => {
  const { name, isActive, value, limit, text } = alarm;
  return {
    event: isActive ? 'alarmRaised' : 'alarmCleared',
    text: isActive ? text : `the alarm ${name} is over`,
    data: { alarm: name, value, limit },
  };
};
