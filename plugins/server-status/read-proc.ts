import { readFile } from 'node:fs/promises';

/** Resolves with a file below `/proc`; with an empty text where there is none, as in other systems than Linux. */
export const readProc = (name: string): Promise<string> => readFile(`/proc/${name}`, 'utf8').catch(() => '');
