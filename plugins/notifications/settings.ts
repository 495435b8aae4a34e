import { list, oneOf, setting } from '../../kernel/index.js';

export const EVENTS = ['clientDepleted', 'coreStateChanged', 'loginBlocked'] as const;
export type EventName = (typeof EVENTS)[number];

export const notificationSettings = {
  notificationEvents: setting(list(oneOf(...EVENTS)).unique(), [...EVENTS], 'what channels are told of'),
} as const;
