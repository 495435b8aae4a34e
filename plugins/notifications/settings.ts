import { list, oneOf, setting } from '../../kernel/index.js';

export const EVENTS = [
  'clientDepleted',
  'coreStateChanged',
  'loginBlocked',
  'outboundDown',
  'outboundUp',
  'nodeDown',
  'nodeUp',
  'alarmRaised',
  'alarmCleared',
] as const;
export type EventName = (typeof EVENTS)[number];

export const notificationSettings = {
  notificationEvents: setting(
    list(oneOf(...EVENTS)).unique(),
    [...EVENTS],
    'events to send notifications about',
  ),
} as const;
