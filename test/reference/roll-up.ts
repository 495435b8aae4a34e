// The public types as one text that can be read, and compiled against, without the sources: a module for each door.
// It is made of the compiler's own declarations: what a door exports, and what that needs in turn.
import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import {
  type Declaration,
  DeclarationFiles,
  type FromFile,
  type FromPackage,
  sourceAt,
} from './declaration-files.js';
import { keyOf, publicClass, references, rewrite } from './type-text.js';

export interface Door {
  /** `@weir-panel/weir/kernel` */
  readonly module: string;
  /** the source behind it, from the root and without an ending */
  readonly path: string;
}
/** All declarations of one name. */
export interface Entry {
  readonly file: string;
  readonly declarations: readonly Declaration[];
  /** how the door exports it; undefined: it does not, but needs it */
  readonly shown: 'whole' | 'type' | undefined;
  /** what it is called in its module */
  name: string;
  /** with the names that it has in its module */
  texts: readonly string[];
}
export interface Module extends Door {
  readonly entries: readonly Entry[];
  readonly text: string;
}
interface Draft extends Door {
  readonly entries: Map<string, Entry>;
  readonly waiting: Entry[];
  /** by module: what is imported under which name */
  readonly imports: Map<string, Map<string, string>>;
  readonly passedOn: string[];
}

const id = ({ file, name }: FromFile): string => `${file}#${name}`;
const capital = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
const wordOf = (path: string): string =>
  posix.basename(path).replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());
/** Two columns for four, and one step in. */
const indent = (text: string): string =>
  text
    .replaceAll(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2))
    .split('\n')
    .map((line) => (line === '' ? line : `  ${line}`))
    .join('\n');

export class RollUp {
  readonly #sources: URL;
  readonly #files: DeclarationFiles;
  readonly #doors: readonly Door[];
  /** what the doors export, by where it is declared */
  readonly #offered = new Map<string, { readonly module: string; readonly name: string }>();
  readonly #complaints = new Set<string>();

  /** `compiled` is the folder that the compiler wrote to. */
  constructor(sources: URL, compiled: URL, doors: readonly Door[]) {
    this.#sources = sources;
    this.#files = new DeclarationFiles(compiled);
    this.#doors = doors;
  }

  get complaints(): readonly string[] {
    return [...this.#complaints];
  }

  async modules(): Promise<Module[]> {
    for (const { module, path } of this.#doors) {
      for (const [name, target] of (await this.#files.read(path)).exported) {
        const origin = await this.#files.origin(target);
        if (!origin) this.#complaints.add(`${path} exports ${name}, which nothing declares`);
        else if (!this.#offered.has(id(origin))) this.#offered.set(id(origin), { module, name });
      }
    }
    const modules: Module[] = [];
    for (const door of this.#doors) modules.push(await this.#module(door));
    return modules;
  }

  async #module(door: Door): Promise<Module> {
    const draft: Draft = { ...door, entries: new Map(), waiting: [], imports: new Map(), passedOn: [] };
    for (const [name, target] of (await this.#files.read(door.path)).exported) {
      const origin = await this.#files.origin(target);
      const offered = origin && this.#offered.get(id(origin));
      if (!origin || !offered) continue;
      if (offered.module === door.module)
        await this.#take(draft, origin, name, target.typeOnly ? 'type' : 'whole');
      else
        draft.passedOn.push(
          `export { ${offered.name === name ? name : `${offered.name} as ${name}`} } from '${offered.module}';`,
        );
    }
    const named = new Map<Entry, Map<string, string | Entry>>();
    for (let entry = draft.waiting.shift(); entry; entry = draft.waiting.shift())
      named.set(entry, await this.#resolve(draft, entry));
    const entries = [...draft.entries.values()];
    distinguish(entries, draft.imports);
    for (const [entry, names] of named) {
      const nameOf = (key: string): string | undefined => {
        const found = names.get(key);
        return typeof found === 'object' ? found.name : found;
      };
      const own = entry.declarations[0]?.name ?? '';
      entry.texts = entry.texts.map((text) =>
        rewrite(text, nameOf).replace(new RegExp(`^(.*?)\\b${own}\\b`), `$1${entry.name}`),
      );
    }
    return { ...door, entries, text: await this.#print(draft, entries) };
  }

  async #take(
    { entries, waiting }: Draft,
    origin: FromFile,
    name: string,
    shown: Entry['shown'],
    asClass = shown === 'whole',
  ): Promise<Entry> {
    const known = entries.get(id(origin));
    if (known) return known;
    const declarations = (await this.#files.read(origin.file)).declarations.filter(
      (one) => one.name === origin.name,
    );
    const texts = declarations.map(({ kind, text }) =>
      kind === 'class' ? publicClass(text, asClass ? 'class' : 'interface') : text,
    );
    const entry: Entry = { file: origin.file, declarations, shown, name, texts };
    entries.set(id(origin), entry);
    waiting.push(entry);
    return entry;
  }

  /** What the names in an entry are; takes in what is missing yet. */
  async #resolve(draft: Draft, entry: Entry): Promise<Map<string, string | Entry>> {
    const names = new Map<string, string | Entry>();
    for (const text of entry.texts) {
      const bases = /^(?:abstract )?class [^{]*\bextends (\w+)/.exec(text)?.[1];
      for (const reference of references(text)) {
        const key = keyOf(reference);
        if (!names.has(key)) {
          const found = await this.#find(
            draft,
            entry.file,
            reference.name,
            reference.specifier,
            reference.name === bases,
          );
          if (found !== undefined) names.set(key, found);
        }
      }
    }
    return names;
  }

  async #find(
    draft: Draft,
    file: string,
    name: string,
    specifier: string | undefined,
    asClass: boolean,
  ): Promise<string | Entry | undefined> {
    const { declarations, imported } = await this.#files.read(file);
    let target: FromPackage | FromFile | undefined;
    if (specifier !== undefined) {
      const source = sourceAt(file, specifier);
      if (source === undefined)
        return `${bringIn(draft, { from: specifier, name: 'default' }, capital(wordOf(specifier)))}.${name}`;
      target = { file: source, name };
    } else {
      target = declarations.some((one) => one.name === name) ? { file, name } : imported.get(name);
    }
    if (!target || 'from' in target) return target && bringIn(draft, target, name);
    const origin = await this.#files.origin(target);
    if (!origin) {
      this.#complaints.add(`${file} names ${name}, which nothing declares`);
      return undefined;
    }
    const offered = this.#offered.get(id(origin));
    if (offered && offered.module !== draft.module)
      return bringIn(draft, { from: offered.module, name: offered.name }, offered.name);
    const isOwn = origin.file.startsWith(`${posix.dirname(draft.path)}/`);
    if (!isOwn && draft.path.startsWith('plugins/'))
      this.#complaints.add(
        `${draft.path} needs ${origin.name} of ${origin.file}, which no door exports; export it there`,
      );
    return this.#take(draft, origin, origin.name, undefined, asClass);
  }

  async #print({ module, imports, passedOn }: Draft, entries: readonly Entry[]): Promise<string> {
    const lines: string[] = [];
    for (const [from, names] of [...imports].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const parts = [...names]
        .filter(([name]) => name !== 'default' && name !== '*')
        .map(([name, as]) => (name === as ? name : `${name} as ${as}`));
      for (const [name, as] of names)
        if (name === 'default' || name === '*')
          lines.push(`import type ${name === '*' ? '* as ' : ''}${as} from '${from}';`);
      if (parts.length > 0) lines.push(`import type { ${parts.sort().join(', ')} } from '${from}';`);
    }
    lines.push(...passedOn);
    for (const file of new Set(entries.map((entry) => entry.file))) {
      lines.push('', ...(await this.#thought(file)));
      const { declarations } = await this.#files.read(file);
      const own = entries.filter((entry) => entry.file === file);
      for (const declaration of declarations) {
        const entry = own.find((one) => one.declarations.includes(declaration));
        if (!entry) continue;
        if (declaration.doc !== '') lines.push(declaration.doc);
        lines.push(`${entry.shown ? 'export ' : ''}${entry.texts[entry.declarations.indexOf(declaration)]}`);
      }
    }
    // With this, what has no `export` stays inside.
    return `declare module '${module}' {\n${indent([...lines, '', 'export {};'].join('\n').trimStart())}\n}\n`;
  }

  /** The comment that a source begins with. */
  async #thought(file: string): Promise<string[]> {
    const lines = (await readFile(new URL(`${file}.ts`, this.#sources), 'utf8')).split('\n');
    return lines.slice(
      0,
      lines.findIndex((line) => !line.startsWith('//')),
    );
  }
}

/** Two files may use one name for what they do not export. */
function distinguish(
  entries: readonly Entry[],
  imports: ReadonlyMap<string, ReadonlyMap<string, string>>,
): void {
  const taken = new Set([...imports.values()].flatMap((names) => [...names.values()]));
  for (const { shown, name } of entries) if (shown) taken.add(name);
  for (const entry of entries) {
    if (entry.shown) continue;
    if (taken.has(entry.name))
      entry.name = (/^[A-Z]/.test(entry.name) ? capital : String)(
        `${wordOf(entry.file)}${capital(entry.name)}`,
      );
    taken.add(entry.name);
  }
}

/** What a name of another module is called in this one. */
function bringIn({ imports }: Draft, { from, name }: FromPackage, as: string): string {
  const names = imports.get(from) ?? new Map<string, string>();
  imports.set(from, names.set(name, names.get(name) ?? as));
  return names.get(name) ?? as;
}
