// The signed list of releases. docs/install.md describes its format for those who publish one.
import {
  inspect,
  int,
  list,
  oneOf,
  optional,
  shape,
  text,
  withDefault,
  word,
  type Static,
} from '../../kernel/index.js';
import { type PublicKey, verifySignature } from './minisign.js';
import { compareVersions, isVersion } from './version.js';

export const FORMAT = 'weir-releases-1';
/** in bytes */
export const MOST_INDEX = 1024 * 1024;
export const MOST_PACKAGE = 1024 ** 3;
export const CHANNELS = ['stable', 'dev'] as const;
export type Channel = (typeof CHANNELS)[number];

const version = () =>
  word()
    .max(64)
    .custom((value: string) => {
      if (!isVersion(value)) throw new Error('it must be a version such as 0.2.0 or 0.3.0-dev.4');
      return value;
    });

const FileShape = shape({
  platform: word()
    .max(32)
    .pattern(/^linux-(?:x64|arm64)$/, 'a platform: linux-x64 or linux-arm64'),
  url: word().max(2_000).description('absolute, or relative to the address of the index'),
  size: int().min(1).max(MOST_PACKAGE).description('bytes'),
  sha256: word().pattern(/^[0-9a-f]{64}$/, 'a SHA-256: 64 small hexadecimal digits'),
});
const ReleaseShape = shape({
  version: version(),
  channel: oneOf(...CHANNELS),
  commit: optional(word().pattern(/^[0-9a-f]{7,64}$/, 'an id of a commit: 7 to 64 hexadecimal digits')),
  minimum: optional(version()).description('the oldest version from which it can be installed'),
  notes: withDefault(text().max(20_000), ''),
  files: list(FileShape).min(1).max(4),
});
const IndexShape = shape({
  format: oneOf(FORMAT),
  number: int().min(1).description('grows with each index; a lower one than before is refused'),
  createdAt: int().min(0).description('Unix ms'),
  expiresAt: optional(int().min(0)).description('Unix ms; afterwards the index is refused'),
  releases: list(ReleaseShape).max(100),
});

export type ReleaseFile = Static<typeof FileShape>;
export type Release = Static<typeof ReleaseShape>;
export type ReleaseIndex = Static<typeof IndexShape> & {
  /** id of the key that signed it */
  readonly key: string;
};

/** Verifies the signature before it looks at the content. Throws with the reason. */
export function readIndex(
  bytes: Uint8Array,
  signature: string,
  keys: readonly PublicKey[],
  now: number,
): ReleaseIndex {
  if (bytes.length > MOST_INDEX) throw new Error('the index of releases is larger than 1 MiB');
  const { key } = verifySignature(bytes, signature, keys);
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (cause) {
    throw new Error('the index of releases is not valid JSON', { cause });
  }
  const found = inspect(IndexShape, content);
  if ('issues' in found) {
    const [first] = found.issues;
    throw new Error(`the index of releases is not valid: ${first?.message ?? ''}`);
  }
  const index = found.value;
  if (index.expiresAt !== undefined && index.expiresAt <= now)
    throw new Error(
      `the index of releases expired at ${new Date(index.expiresAt).toISOString()}; its source may hold newer ones back`,
    );
  return { ...index, key };
}

/** Channel dev has the releases of both. Newest first; of a version that is there twice, the first one. */
export const releasesOf = ({ releases }: ReleaseIndex, channel: Channel): Release[] =>
  releases
    .filter((release) => channel === 'dev' || release.channel === 'stable')
    .sort((a, b) => compareVersions(b.version, a.version));

export const fileFor = (release: Release, platform: string): ReleaseFile | undefined =>
  release.files.find((file) => file.platform === platform);

export const platformHere = (): string => `${process.platform}-${process.arch}`;

/** Why this release cannot take the place of the running one; undefined where it can. */
export function whyNot(release: Release, current: string, platform: string): string | undefined {
  const { version: to, minimum } = release;
  const order = compareVersions(to, current);
  if (order === 0) return `Weir ${to} runs already`;
  if (order < 0)
    return `Weir ${to} is older than ${current}, which runs; an older one is installed by root: \`weir rollback\`, or \`weir upgrade <file>\``;
  if (minimum !== undefined && compareVersions(current, minimum) < 0)
    return `Weir ${to} needs ${minimum} or newer before it, and ${current} runs; install a release between them first`;
  if (!fileFor(release, platform)) return `Weir ${to} has no package for ${platform}`;
  return undefined;
}

/** The newest release that can be installed here. */
export const nextRelease = (
  releases: readonly Release[],
  current: string,
  platform: string,
): Release | undefined => releases.find((release) => whyNot(release, current, platform) === undefined);
