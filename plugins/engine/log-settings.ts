// How much of the core's logs is kept.
import { int, setting, type SettingValues } from '../../kernel/index.js';
import type { LogLimits } from '../processes/contract.js';

const MIB = 1024 * 1024;

export const logSettings = {
  coreLogSize: setting(int().min(1).max(100), 16, 'MiB of each log file of the core, after which it is cut'),
  coreLogFiles: setting(
    int().min(0).max(20),
    1,
    'older parts of each log file of the core that are kept; each has at most twice that size',
  ),
} as const;

export const logLimits = ({ coreLogSize, coreLogFiles }: SettingValues<typeof logSettings>): LogLimits => ({
  maxBytes: coreLogSize * MIB,
  keep: coreLogFiles,
});
