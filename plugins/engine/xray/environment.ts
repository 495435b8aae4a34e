// The environment of the core and of its short commands.
import { dirname, resolve } from 'node:path';
import { minimalEnvironment } from '../../processes/contract.js';
import { assetFolder } from '../asset-folder.js';

/** Variables that a core gets beside the harmless ones. XRAY_LOCATION_CONFDIR stays out: it would add files to the config. */
const PASSED_ON = [
  'GOMAXPROCS',
  'GOMEMLIMIT',
  'GOGC',
  'GODEBUG',
  'XRAY_LOCATION_CERT',
  'XRAY_RAY_BUFFER_SIZE',
  'XRAY_BUF_READV',
];

/**
 * With splicing on, most downloads are counted only when they end.
 * @param directory the engine's folder in the data folder
 */
export const coreEnvironment = (directory: string): Record<string, string> => ({
  ...minimalEnvironment(PASSED_ON),
  XRAY_LOCATION_ASSET: assetFolder(dirname(resolve(directory))),
  XRAY_BUF_SPLICE: 'false',
});
