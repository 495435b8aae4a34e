import { clientEvents, groupEvents } from './client-events.js';
import { hostEvents, inboundEvents } from './inbound-events.js';
import {
  addressEvents,
  adminEvents,
  alarmEvents,
  coreEvents,
  deviceEvents,
  downEvents,
  settingEvents,
  tokenEvents,
  upEvents,
} from './panel-events.js';

/** The events that come with the panel. Those of plugins that do not run never happen. */
export const sources = [
  ...[clientEvents, groupEvents, inboundEvents, hostEvents, settingEvents, adminEvents, tokenEvents],
  ...[coreEvents, downEvents, upEvents, alarmEvents, addressEvents, deviceEvents],
];
