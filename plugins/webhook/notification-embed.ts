// A notification as an embed.
import type { Notification } from '../notifications/contract.js';
import { COLORS, type Embed, escaped } from './embed.js';

/** With what later releases of `notifications` add. */
export type Told = Notification & { readonly severity?: string; readonly title?: string };

const GOOD = new Set(['outboundUp', 'alarmCleared', 'nodeUp', 'test']);
const BAD = new Set(['outboundDown', 'loginBlocked', 'nodeDown']);

export function colorOf({ event, severity, data }: Told): number {
  if (GOOD.has(event)) return COLORS.green;
  if (event === 'coreStateChanged') {
    if (data['to'] === 'running') return COLORS.green;
    return data['to'] === 'error' ? COLORS.red : COLORS.orange;
  }
  if (severity === 'critical' || BAD.has(event)) return COLORS.red;
  if (severity === 'info') return COLORS.blue;
  return severity === 'warning' || event === 'alarmRaised' || event === 'clientDepleted'
    ? COLORS.orange
    : COLORS.blue;
}

export const embedOf = (told: Told, host: string): Embed => ({
  title: told.title ?? told.event,
  description: escaped(told.text),
  color: colorOf(told),
  footer: { text: host },
  timestamp: new Date(told.at).toISOString(),
});
