// How much of the core's logs is kept.
import { int, setting, type SettingValues, inSection } from '../../../kernel/index.js';
import type { LogLimits } from '../../processes/contract.js';

const MIB = 1024 * 1024;

export const logSettings = inSection(
  'Logs of the core',
  {
    engineLogSize: setting(
      int().min(1).max(100),
      16,
      'MiB of each log file of the core, after which it is cut',
      { unit: 'MiB' },
    ),
    engineLogFiles: setting(
      int().min(0).max(20),
      1,
      'older parts of each log file of the core that are kept; each has at most twice that size',
    ),
  },
  { level: 'advanced' },
);

export const logLimits = ({
  engineLogSize,
  engineLogFiles,
}: SettingValues<typeof logSettings>): LogLimits => ({
  maxBytes: engineLogSize * MIB,
  keep: engineLogFiles,
});
