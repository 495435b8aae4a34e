// The panel's own boot settings.
import Joi from 'joi';
import { variable } from '../schema/variable.js';
import { Proxies } from '../net/proxies.js';
import { levels } from './log.js';
import { custom, int, oneOf, optional, withDefault, word } from '../schema/shape.js';
import { DEFAULT_DATA_DIRECTORY } from './config-file.js';

const isDecodable = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
};

const proxyList = custom<readonly string[]>(
  Joi.any().custom((value: unknown, state) => {
    const listed: unknown[] =
      typeof value === 'string'
        ? value
            .split(',')
            .map((entry) => entry.trim())
            .filter(Boolean)
        : Array.isArray(value)
          ? value
          : [value];
    try {
      const entries = listed.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)));
      new Proxies(entries);
      return entries;
    } catch (error) {
      return state.error('any.custom', { error: error as Error });
    }
  }),
);

/** Holds a password, so no message may repeat it. */
const databaseUrl = custom<string>(
  Joi.string().custom((value: string, state) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const whole =
      url &&
      /^(mysql|mariadb):$/.test(url.protocol) &&
      url.hostname &&
      url.username &&
      /^\/[^/]{1,64}$/.test(url.pathname) &&
      !url.search &&
      !url.hash &&
      [url.username, `${url.password}.`, url.pathname].every(isDecodable);
    return whole
      ? value
      : state.error('any.custom', {
          error: new Error(
            'it is not of the form mysql://user:password@host:port/name; characters like @, / and # of a password are written as %40, %2F and %23',
          ),
        });
  }),
);

export const presets = ['minimal', 'standard', 'full'] as const;
export const DEFAULT_PRESET = 'standard';

/** These say where everything else is, so only the environment can set them. */
export const environmentOnlyVariables = {
  dataDirectory: variable(
    'WEIR_DATA_DIR',
    withDefault(word(), DEFAULT_DATA_DIRECTORY),
    'folder of the database, the core and the logs',
  ),
  configFile: variable(
    'WEIR_CONFIG',
    optional(word()),
    'config file; by default weir.json in the data folder, if it exists',
  ),
} as const;

export const bootVariables = {
  preset: variable(
    'WEIR_PRESET',
    withDefault(oneOf(...presets), DEFAULT_PRESET),
    'which plugins are enabled: minimal, standard or full',
  ),
  host: variable('WEIR_HOST', withDefault(word().hostname(), '127.0.0.1'), 'address of the panel'),
  port: variable(
    'WEIR_PANEL_PORT',
    withDefault(int().min(0).max(65_535), 2053),
    'port of the panel; 0 takes a free one',
  ),
  tlsCert: variable(
    'WEIR_TLS_CERT',
    optional(word()),
    'certificate file of the panel, in PEM; with it the panel serves HTTPS',
  ),
  tlsKey: variable('WEIR_TLS_KEY', optional(word()), 'private key file of that certificate, in PEM'),
  trustedProxies: variable(
    'WEIR_TRUSTED_PROXIES',
    optional(proxyList),
    'addresses and CIDRs of trusted proxies, whose forwarded headers are used; comma-separated',
  ),
  logLevel: variable(
    'WEIR_LOG_LEVEL',
    withDefault(oneOf(...levels), 'info'),
    'least severe level that is logged',
  ),
  databaseUrl: variable(
    'WEIR_DATABASE_URL',
    optional(databaseUrl),
    'MySQL or MariaDB as mysql://user:password@host:port/name; by default a SQLite file in the data folder',
  ),
} as const;

export const panelVariables = { ...environmentOnlyVariables, ...bootVariables } as const;
