// The kernel's own boot settings.
import { custom, int, oneOf, optional, withDefault, word } from '../schema/shape.js';
import { levels } from '../log/log.js';
import { Proxies } from '../http/address.js';
import Joi from 'joi';
import { variable } from './load.js';

export const port = () => int().min(1).max(65_535);
/** Begins and ends with a slash; segments of letters, digits, `-`, `_`, `.` and `~`. */
export const urlPath = () => word().pattern(/^\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*\/)*$/, 'path that begins and ends with a slash');

const proxyList = custom<readonly string[]>(
  Joi.string().custom((value: string, state) => {
    const entries = value.split(',').map((entry) => entry.trim()).filter(Boolean);
    try {
      new Proxies(entries);
    } catch (error) {
      return state.error('any.custom', { error: error as Error });
    }
    return entries;
  }),
);

export const panelVariables = {
  dataDirectory: variable('WEIR_DATA_DIR', withDefault(word(), './data'), 'folder of database, core and logs'),
  plugins: variable('WEIR_PRESET', withDefault(oneOf('standard'), 'standard'), 'which plugins are on'),
  host: variable('WEIR_HOST', withDefault(word().hostname(), '127.0.0.1'), 'address of the panel'),
  port: variable('WEIR_PANEL_PORT', withDefault(int().min(0).max(65_535), 2053), 'port of the panel; 0 takes a free one'),
  trustedProxies: variable('WEIR_TRUSTED_PROXIES', optional(proxyList), 'addresses and CIDRs whose forwarded headers count, comma-separated'),
  logLevel: variable('WEIR_LOG_LEVEL', withDefault(oneOf(...levels), 'info'), 'least severe level that is written'),
} as const;
