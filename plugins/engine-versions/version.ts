// Versions of the core, as numbers and as tags.
import { isVersion } from '../engine/contract.js';

/** `26.3.27` of `v26.3.27` or `26.3.27`; undefined for anything else, such as a release candidate. */
export function versionOf(tag: string): string | undefined {
  const version = tag.replace(/^v/, '');
  return isVersion(version) ? version.split('.').map(Number).join('.') : undefined;
}

export const tagOf = (version: string): string => `v${version}`;

/** For `sort`: the newest first. */
export function newestFirst(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (const i of [0, 1, 2]) {
    const difference = (right[i] ?? 0) - (left[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
