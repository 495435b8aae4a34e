// The time zone of periods and renewals.
import { panelSettings, type SettingsApi } from '../settings/contract.js';

/** Undefined is the zone of the machine. */
export function zoneOf(settings: SettingsApi): string | undefined {
  const { timeLocation } = settings.read(panelSettings);
  return timeLocation === 'Local' || timeLocation === '' ? undefined : timeLocation;
}
