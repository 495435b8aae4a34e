// The core's release: its version, the name of its archive, and its path here.
import { homedir } from 'node:os';
import { join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Receives progress; `info` is for people who wait, `warn` for the log. */
export interface Progress {
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
}

/** The version that Weir is tested with; go.mod requires the same. */
export const CORE_VERSION = '26.3.27';
export const RELEASES = 'https://github.com/XTLS/Xray-core/releases/download';
export const PROGRAM = process.platform === 'win32' ? 'xray.exe' : 'xray';

/** A core of this version that was downloaded or built. In the user's cache folder: every checkout and test on this machine uses the same one. */
export const keptCore = (env: Environment): string =>
  join(
    env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'weir',
    'core',
    `xray-${CORE_VERSION}-${process.platform}-${process.arch}`,
    PROGRAM,
  );

const SYSTEMS: Readonly<Record<string, string>> = {
  linux: 'linux',
  darwin: 'macos',
  win32: 'windows',
  freebsd: 'freebsd',
  openbsd: 'openbsd',
  android: 'android',
};
const MACHINES: Readonly<Record<string, string>> = {
  x64: '64',
  ia32: '32',
  arm64: 'arm64-v8a',
  s390x: 's390x',
  riscv64: 'riscv64',
  loong64: 'loong64',
};

export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** of 32-bit ARM: 5, 6 or 7 */
  readonly armVersion?: string | undefined;
  readonly littleEndian?: boolean;
}
export const thisMachine = (): Machine => ({
  platform: process.platform,
  arch: process.arch,
  armVersion: (process.config.variables as { arm_version?: string }).arm_version,
  littleEndian: new Uint8Array(new Uint16Array([1]).buffer)[0] === 1,
});

/** `Xray-linux-64.zip`; undefined where the project may publish none for this machine. */
export function assetOf({
  platform,
  arch,
  armVersion = '7',
  littleEndian = true,
}: Machine): string | undefined {
  const system = SYSTEMS[platform];
  const ending = littleEndian ? 'le' : '';
  const machine =
    arch === 'arm'
      ? `arm32-v${armVersion}${armVersion === '7' ? 'a' : ''}`
      : arch === 'ppc64'
        ? `ppc64${ending}`
        : MACHINES[arch];
  return system === undefined || machine === undefined ? undefined : `Xray-${system}-${machine}.zip`;
}
