// Reads the hooks from their declarations in the code of their owners: the doc comment there is the documentation.
import { readdir, readFile } from 'node:fs/promises';

export interface HookDeclaration {
  readonly id: string;
  readonly kind: string;
  readonly owner: string;
  /** empty where its owner has not documented it */
  readonly doc: string;
  /** declared in the contract, or by the kernel; other hooks are private to their plugin */
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

/** The hooks of one owner of this tree, from its compiled files; of a third-party plugin only id and kind are known. */
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
