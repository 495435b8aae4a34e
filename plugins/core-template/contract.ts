// API of core-template: the admin's part of the core's config.
import { during, type Principal, token } from '../../kernel/index.js';
import type { JsonObject } from '../engine/contract.js';

export { errors as templateErrors } from './errors.js';
export {
  type WireguardTunnel,
  wireguardKey,
  wireguardTags,
  withWireguard,
} from './wireguard-outbound.js';

export interface CoreTemplateApi {
  /** What tests of outbounds fetch: the setting `outboundTestUrl`. */
  testUrl(): string;
  /** The template in force, as an admin wrote it. */
  read(): JsonObject;
  /** Whether it is the one of a new panel. */
  isDefault(): boolean;
  /** Saves a changed template, as `engine/update` does: tested by the core, in force when it resolves, with a note for people. Resolves with what is to be said of it. Rejects when it cannot run; the previous one stays then. */
  change(edit: (template: JsonObject) => JsonObject, who: Principal, note: string): Promise<string>;
}
export const CoreTemplate = token<CoreTemplateApi>('core-template', 'CoreTemplate');

/** Another template is in force. */
export interface TemplateChange {
  /** 0: the default of a new panel */
  readonly before: { readonly id: number; readonly template: JsonObject };
  readonly after: { readonly id: number; readonly template: JsonObject };
}
/** Runs in the transaction that stores a template, also when the panel goes back to an earlier one. Templates hold secrets. */
export const duringTemplateSave = during<{
  readonly changes: readonly TemplateChange[];
  readonly who: Principal;
}>('core-template/duringTemplateSave');
