// The newest entry as a person notes it: `17:5f0c…`.
import type { Link } from './chain.js';

export const HEAD = /^(\d{1,15}):([0-9a-f]{64})$/;

export function asNoted(head: string | undefined): Link | undefined {
  const [, id, hash = ''] = HEAD.exec(head ?? '') ?? [];
  return id === undefined ? undefined : { id: Number(id), hash };
}
