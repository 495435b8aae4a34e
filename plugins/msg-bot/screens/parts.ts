// What the screens of the bot use of other plugins, and how they find a client.
import type { Clock } from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import type { BackupsApi } from '../../backup/contract.js';
import type { ClientEditsApi, ClientRow, ClientsApi } from '../../clients/contract.js';
import type { DevicesApi } from '../../devices/contract.js';
import type { Applied, EngineApi } from '../../engine/contract.js';
import type { Inbound, InboundsApi } from '../../inbounds/contract.js';
import type { ServerStatusApi } from '../../server-status/contract.js';
import type { SettingsApi } from '../../settings/contract.js';
import type { SubscriptionApi } from '../../subscription/contract.js';
import type { PresenceApi } from '../../traffic/contract.js';
import type { Dialogs } from '../chat/dialogs.js';
import { Declined, withLatinDigits } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import type { Owners } from '../owners.js';

export interface Parts {
  readonly clients: ClientsApi;
  readonly edits: ClientEditsApi;
  readonly inbounds: InboundsApi;
  readonly engine: EngineApi;
  readonly presence: PresenceApi | undefined;
  readonly subscription: SubscriptionApi | undefined;
  readonly devices: DevicesApi | undefined;
  readonly backups: BackupsApi | undefined;
  readonly status: ServerStatusApi | undefined;
  readonly audit: AuditTrailApi | undefined;
  readonly allSettings: SettingsApi;
  readonly owners: Owners;
  readonly dialogs: Dialogs;
  readonly clock: Clock;
}

/** The part of a plugin that may be off. */
export function running<T>(part: T | undefined, plugin: string): T {
  if (part === undefined) throw new Declined('unavailable', { plugin });
  return part;
}

const idOf = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : 0);

/** The client of a button. To a user who is no admin, clients of others do not exist. */
export function clientOf({ clients }: Parts, turn: Turn, id: string | undefined): ClientRow {
  return seen(turn, clients.byId(idOf(id)));
}
export const clientByEmail = ({ clients }: Parts, turn: Turn, email: string): ClientRow =>
  seen(turn, clients.byEmail(email));

function seen(turn: Turn, row: ClientRow | undefined): ClientRow {
  if (!row || !(turn.isAdmin || row.tgId === turn.userId)) throw new Declined('noClient');
  return row;
}

export function inboundOf({ inbounds }: Parts, id: string | undefined): Inbound {
  const inbound = inbounds.get(idOf(id));
  if (!inbound) throw new Declined('noInbound');
  return inbound;
}

/** A whole number that a user typed. */
export function numberOf(text: string, least: number, most: number): number {
  const digits = withLatinDigits(text).replaceAll(/\s/g, '');
  const value = /^[+-]?\d{1,16}$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(value >= least && value <= most)) throw new Declined('wrongNumber', { least, most });
  return value;
}

/** What to say about a change. */
export const resultOf = ({ texts }: Turn, { pending, reason }: Applied): string =>
  pending ? texts.html('doneLater', { reason }) : texts.html('done');
