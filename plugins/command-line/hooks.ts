// The hooks that there are, as the code of their owners declares them: the comment there is what people read everywhere.
import { readdir, readFile } from 'node:fs/promises';

export interface HookDeclaration {
  readonly id: string;
  readonly kind: string;
  readonly owner: string;
  /** empty where its owner says nothing */
  readonly doc: string;
  /** in the contract, or of the kernel's; others are the plugin's own business */
  readonly isPublic: boolean;
}

const DECLARATION =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?export const \w+ = (prepare|guard|during|draft|filter|choose|after|event)\(\s*['"]([^'"]+)['"]/g;
const ROOT = new URL('../../', import.meta.url);

const sentence = (comment = ''): string =>
  comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*?\s*/, ''))
    .join(' ')
    .trim();

export const declaredIn = (owner: string, code: string, isPublic: boolean): HookDeclaration[] =>
  [...code.matchAll(DECLARATION)].map(([, comment, kind = '', id = '']) => ({
    id,
    kind,
    owner,
    doc: sentence(comment),
    isPublic,
  }));

/** Those of one owner of this tree, in the files as they run; a third-party plugin's are known by id and kind alone. */
export async function hooksOf(owner: string): Promise<HookDeclaration[]> {
  const folder = new URL(owner === 'kernel' ? 'kernel/' : `plugins/${owner}/`, ROOT);
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const sources = files.filter((file) => file.endsWith('.js') && !file.split('/').includes('test'));
  const found = await Promise.all(
    sources.map(async (file) =>
      declaredIn(
        owner,
        await readFile(new URL(file, folder), 'utf8'),
        owner === 'kernel' || file === 'contract.js',
      ),
    ),
  );
  return found.flat();
}
