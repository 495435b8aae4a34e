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

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? [`${names.length - NAMED} more`] : [];
  return [...names.slice(0, NAMED), ...more].join(', ');
}

export function depleted(clients: readonly Depleted[]): Told {
  return {
    event: 'clientDepleted',
    text: `reached a limit and were disabled: ${named(clients.map(({ email, cause }) => `${email} (${cause})`))}`,
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

interface Down {
  readonly tag: string;
  readonly failures: number;
  readonly error: string;
}
/** An error of the core may be long; the data has all of it. */
const LONGEST_ERROR = 200;

export const outboundsDown = (outbounds: readonly Down[]): Told => ({
  event: 'outboundDown',
  text: `outbounds are down: ${named(outbounds.map(({ tag, error }) => `${tag} (${error.slice(0, LONGEST_ERROR)})`))}`,
  data: { outbounds: outbounds.map(({ tag, failures, error }) => ({ tag, failures, error })) },
});

export const outboundsUp = (
  outbounds: readonly { readonly tag: string; readonly delay: number }[],
): Told => ({
  event: 'outboundUp',
  text: `outbounds work again: ${named(outbounds.map(({ tag, delay }) => `${tag} (${delay} ms)`))}`,
  data: { outbounds: outbounds.map(({ tag, delay }) => ({ tag, delay })) },
});

interface Flip {
  readonly id: number;
  readonly name: string;
  readonly error: string;
}
/** One text for all nodes that go down, or up, in one round of heartbeats. */
export const nodesDown = (nodes: readonly Flip[]): Told => ({
  event: 'nodeDown',
  text: `nodes are offline: ${named(nodes.map(({ name, error }) => `${name} (${error.slice(0, LONGEST_ERROR)})`))}`,
  data: { nodes: nodes.map(({ id, name, error }) => ({ id, name, error })) },
});

export const nodesUp = (nodes: readonly Flip[]): Told => ({
  event: 'nodeUp',
  text: `nodes are online again: ${named(nodes.map(({ name }) => name))}`,
  data: { nodes: nodes.map(({ id, name }) => ({ id, name })) },
});

export const alarmText = (alarm: Alarm): Told => {
  const { name, isActive, value, limit, text } = alarm;
  return {
    event: isActive ? 'alarmRaised' : 'alarmCleared',
    text: isActive ? text : `the alarm ${name} is over`,
    data: { alarm: name, value, limit },
  };
};
