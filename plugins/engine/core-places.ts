// Reads from the panel's environment where the core is.
import { findCore } from './install/find.js';
import type { Progress } from './install/release.js';

export interface CoreConfig {
  readonly binary?: string | undefined;
  readonly install: 'on' | 'off';
  readonly releases: string;
  readonly sha256?: string | undefined;
}

export const findOurCore = (config: CoreConfig, dataDirectory: string, log: Progress) =>
  findCore({
    env: {
      ...process.env,
      WEIR_ENGINE_BIN: config.binary,
      WEIR_ENGINE_INSTALL: config.install,
      WEIR_ENGINE_URL: config.releases,
      WEIR_ENGINE_SHA256: config.sha256,
    },
    dataDirectory,
    log,
  });
