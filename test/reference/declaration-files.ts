// What the compiler wrote of a source's types, read back: its imports, its exports and its declarations, each with its comment.
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';

/** A name of a package, as it was imported; `*` and `default` as well. */
export interface FromPackage {
  readonly from: string;
  readonly name: string;
}
/** A name in one of our files. */
export interface FromFile {
  readonly file: string;
  readonly name: string;
}
export interface Declaration {
  readonly name: string;
  readonly kind: 'class' | 'interface' | 'type' | 'const' | 'function';
  readonly doc: string;
  /** without `export` and `declare` */
  readonly text: string;
}
export interface DeclarationFile {
  readonly imported: ReadonlyMap<string, FromPackage | FromFile>;
  /** by the name that others import; `typeOnly` can be neither called nor built */
  readonly exported: ReadonlyMap<string, FromFile & { readonly typeOnly: boolean }>;
  readonly declarations: readonly Declaration[];
}

const DECLARED = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type|const|function) (\w+)/;
const NAMES =
  /^(?:import|export) (type )?(?:(\w+)(?:, )?)?(?:\* as (\w+))?(?:\{([\s\S]*?)\})?(?: from ['"]([^'"]+)['"])?;/;

/** How a statement ends: a union may have a `}` or a comment at the end of a line in its middle. */
const ENDS: readonly (readonly [begins: RegExp, ends: RegExp])[] = [
  [/^\/\*\*/, /\*\/\s*$/],
  [/^(?:export )?(?:declare )?(?:abstract )?(?:class|interface)\b/, /\}\s*$/],
];
const hasEnded = (statement: string): boolean =>
  (ENDS.find(([begins]) => begins.test(statement))?.[1] ?? /;\s*$/).test(statement);

/** The compiler begins a statement in the first column; a comment there may also lie inside one that has not ended. */
function statementsOf(text: string): string[] {
  const statements: string[] = [];
  for (const part of text.split(
    /^(?=\/\*\*|(?:export|import|declare|type|interface|abstract|class|const|function)\b)/m,
  )) {
    const last = statements.at(-1);
    if (last !== undefined && !hasEnded(last)) statements[statements.length - 1] = last + part;
    else statements.push(part);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}

/** The source that a specifier leads to, from the root and without an ending; undefined for packages. */
export function sourceAt(from: string, specifier: string): string | undefined {
  if (specifier === '@weir-panel/weir/kernel') return 'kernel/index';
  const plugin = /^@weir-panel\/weir\/plugins\/([\w-]+)$/.exec(specifier)?.[1];
  if (plugin !== undefined) return `plugins/${plugin}/contract`;
  return specifier.startsWith('.')
    ? posix.join(posix.dirname(from), specifier).replace(/\.js$/, '')
    : undefined;
}

export function parseDeclarations(path: string, text: string): DeclarationFile {
  const imported = new Map<string, FromPackage | FromFile>();
  const exported = new Map<string, FromFile & { typeOnly: boolean }>();
  const declarations: Declaration[] = [];
  const at = (specifier: string, name: string): FromPackage | FromFile => {
    const file = sourceAt(path, specifier);
    return file === undefined ? { from: specifier, name } : { file, name };
  };
  let doc = '';
  for (const statement of statementsOf(text)) {
    if (statement.startsWith('/**') && statement.endsWith('*/')) {
      doc = statement;
      continue;
    }
    const [, kind, name] = DECLARED.exec(statement) ?? [];
    if (name !== undefined) {
      declarations.push({
        name,
        kind: kind as Declaration['kind'],
        doc,
        text: statement.replace(/^(?:export )?(?:declare )?/, ''),
      });
      const typeOnly = (kind === 'interface' || kind === 'type') && (exported.get(name)?.typeOnly ?? true);
      if (statement.startsWith('export ')) exported.set(name, { file: path, name, typeOnly });
    } else {
      const [, allTypes, whole, namespace, list = '', specifier] = NAMES.exec(statement) ?? [];
      if (specifier !== undefined && whole !== undefined) imported.set(whole, at(specifier, 'default'));
      if (specifier !== undefined && namespace !== undefined) imported.set(namespace, at(specifier, '*'));
      for (const [, oneType, listed = '', as = listed] of list.matchAll(/(type )?(\w+)(?: as (\w+))?/g)) {
        const target =
          specifier === undefined
            ? (imported.get(listed) ?? { file: path, name: listed })
            : at(specifier, listed);
        if (statement.startsWith('import')) imported.set(as, target);
        else if ('file' in target) exported.set(as, { ...target, typeOnly: Boolean(allTypes ?? oneType) });
      }
    }
    doc = '';
  }
  return { imported, exported, declarations };
}

/** All of them, each read once, below the folder that the compiler wrote to. */
export class DeclarationFiles {
  readonly #root: URL;
  readonly #known = new Map<string, DeclarationFile>();

  constructor(root: URL) {
    this.#root = root;
  }

  async read(path: string): Promise<DeclarationFile> {
    const known =
      this.#known.get(path) ??
      parseDeclarations(path, await readFile(new URL(`${path}.d.ts`, this.#root), 'utf8'));
    this.#known.set(path, known);
    return known;
  }

  /** Where a name is declared in the end, however often it was passed on. */
  async origin(target: FromFile): Promise<FromFile | undefined> {
    const file = await this.read(target.file);
    if (file.declarations.some(({ name }) => name === target.name)) return target;
    const onward = file.exported.get(target.name) ?? file.imported.get(target.name);
    return onward && 'file' in onward && (onward.file !== target.file || onward.name !== target.name)
      ? this.origin(onward)
      : undefined;
  }
}
