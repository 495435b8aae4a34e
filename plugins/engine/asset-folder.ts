// Where the core looks for geodata.
import { join, resolve } from 'node:path';

/** Where a core looks after its own folder (common/platform/others.go). */
export const SYSTEM_ASSETS: readonly string[] =
  process.platform === 'win32' ? [] : ['/usr/local/share/xray', '/usr/share/xray', '/opt/share/xray'];

/** Returns the folder for geodata files: that of XRAY_LOCATION_ASSET, otherwise one in the data folder. */
export const assetFolder = (dataDirectory: string): string =>
  resolve(process.env['XRAY_LOCATION_ASSET'] || join(dataDirectory, 'geodata'));
