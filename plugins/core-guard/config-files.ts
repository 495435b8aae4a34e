// Keys of the core's config with which Xray-core 26.3.27 reads or writes files, each with its place in the core's
// source (github.com/xtls/xray-core at v1.260327.0). It runs no programs: outside of its tests and generators nothing
// there calls os/exec. The core starts with an
// environment without the variables that name files (geodata, XRAY_MPH_CACHE, XRAY_LOCATION_*).
import type { Place } from './walk.js';

interface FileKey {
  /** end of the key's path, folded */
  readonly keys: readonly string[];
  /** `certificate`: may name a file in the folders for certificates; `refused`: never allowed */
  readonly use: 'certificate' | 'refused';
  readonly does: string;
  /** whether the value may be the text itself, in place of a path */
  readonly takesText?: true;
}

const FILE_KEYS: readonly FileKey[] = [
  // infra/conf/transport_internet.go:568 readFileOrString (a file takes precedence over the text beside it), common/platform/
  // filesystem/file.go ReadCert; again every hour in transport/internet/tls/config.go:111
  { keys: ['certificatefile'], use: 'certificate', does: 'reads a certificate' },
  { keys: ['keyfile'], use: 'certificate', does: 'reads a key' },
  // Of TUIC, whose own program reads them: github.com/tuic-protocol/tuic, tuic-server
  { keys: ['server', 'certificate'], use: 'certificate', does: 'reads a certificate', takesText: true },
  { keys: ['server', 'private_key'], use: 'certificate', does: 'reads a key', takesText: true },
  // transport/internet/tls/config.go:462 and transport/internet/reality/config.go:66: appends the secrets of every session
  { keys: ['masterkeylog'], use: 'refused', does: 'writes the secrets of every connection to a file' },
  // transport/internet/hysteria/hub.go:333: http.FileServer over the whole folder
  { keys: ['masquerade', 'dir'], use: 'refused', does: 'serves the files of a folder to everybody' },
  // infra/conf/log.go, common/log/logger.go:165; the panel sets both
  { keys: ['log', 'access'], use: 'refused', does: 'writes a log to a file' },
  { keys: ['log', 'error'], use: 'refused', does: 'writes a log to a file' },
];

/** A text that is no path at the same time: Go shortens `-----BEGIN /../..` to `..` before it opens a folder. */
const PEM = /^-----BEGIN [A-Z0-9 ]+-----[\sA-Za-z0-9+/=-]*$/;

export const endsWith = (keys: readonly string[], end: readonly string[]): boolean =>
  end.every((key, i) => keys[keys.length - end.length + i] === key);

/** Undefined for values that name no file; `none` disables a refused key. */
export function fileKey({ keys, value }: Place): FileKey | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const found = FILE_KEYS.find((file) => endsWith(keys, file.keys));
  if (found?.takesText && typeof value === 'string' && PEM.test(value)) return undefined;
  return found?.use === 'refused' && value === 'none' ? undefined : found;
}

/** A list may be one text with commas (infra/conf/common.go StringList); names of `dns.hosts` are values too. */
function valuesOf(key: string, value: unknown): string[] {
  if (key === 'hosts' && typeof value === 'object' && value !== null) return Object.keys(value);
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return all.flatMap((text) => (typeof text === 'string' ? [text, ...text.split(',')] : []));
}

const ADDRESSES = new Set(['address', 'listen', 'port']);

/**
 * Values with which the core reads files, whatever their key: `ext:file:code` of a rule names a file below the folder of
 * geodata (infra/conf/router.go:182 loadFile, which follows `..`), and an address `env:NAME` is what an environment
 * variable holds (infra/conf/common.go Address.UnmarshalJSON), which may be a path to listen on.
 */
export function fileValue({ key, value }: Place): string | undefined {
  const texts = valuesOf(key, value);
  for (const text of texts) {
    if (/^(?:ext|ext-domain|ext-ip):.*(?:\/|\\|\.\.)/i.test(text))
      return 'leads out of the folder of geodata';
    if (ADDRESSES.has(key) && /^env:/.test(text)) return 'is taken from an environment variable';
  }
  return undefined;
}
