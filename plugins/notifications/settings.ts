import { list, oneOf } from '../../kernel/index.js';
import { setting } from '../settings/contract.js';

export const EVENTS = ['clientDepleted', 'coreStateChanged', 'loginBlocked'] as const;
export type EventName = (typeof EVENTS)[number];

export const notificationSettings = {
  notificationEvents: setting(list(oneOf(...EVENTS)).unique(), [...EVENTS], 'what channels are told of'),
} as const;
