// The environment of the core and of its short commands.
import { minimalEnvironment } from '../../processes/contract.js';

/** Variables that a core gets beside the harmless ones. XRAY_LOCATION_CONFDIR stays out: it would add files to the config. */
const PASSED_ON = [
  'GOMAXPROCS',
  'GOMEMLIMIT',
  'GOGC',
  'GODEBUG',
  'XRAY_LOCATION_ASSET',
  'XRAY_LOCATION_CERT',
  'XRAY_RAY_BUFFER_SIZE',
  'XRAY_BUF_READV',
];

/** With splicing on, most downloads are counted only when they end. */
export const coreEnvironment = (): Record<string, string> => ({
  ...minimalEnvironment(PASSED_ON),
  XRAY_BUF_SPLICE: 'false',
});
