// Checks what a plugin contributes.
import type { Sidecar } from './contract.js';

const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns why a sidecar cannot be used; undefined when it can. */
export function sidecarProblem({ protocol, program, plan, open, problem }: Sidecar): string | undefined {
  if (typeof protocol !== 'string' || protocol === '') return 'a sidecar needs the name of a protocol';
  const of = `the sidecar of ${protocol}`;
  if (typeof plan !== 'function' || typeof open !== 'function')
    return `${of} needs the functions plan and open`;
  if (problem !== undefined && typeof problem !== 'function') return `problem of ${of} must be a function`;
  if (!FILE_NAME.test(String(program?.name))) return `program.name of ${of} must be the name of a file`;
  if (typeof program.variable !== 'string' || typeof program.hint !== 'string')
    return `the program of ${of} needs the texts variable and hint`;
  const { release } = program;
  if (release === undefined) return undefined;
  if (!/^[0-9a-f]{64}$/.test(release.sha256))
    return `release.sha256 of ${of} must have 64 hexadecimal digits`;
  return URL.canParse(release.url) ? undefined : `release.url of ${of} is not a valid URL`;
}
