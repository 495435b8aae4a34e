// Finds the reader of a link's scheme, and checks what it makes of it.
import { inspect, type PluginContext } from '../../kernel/index.js';
import { type EntryTemplate, EntryTemplateShape, type ProxyEntry } from '../inbounds/contract.js';
import { type Link, type LinkReaderApi, LinkError, type ReadEntry, SchemeReaders } from './contract.js';
import { shownName, splitLink } from './link.js';
import { linksIn } from './list.js';
import { nameIn, renamed } from './names.js';

type Contributions = PluginContext['contributions'];

export class LinkReaderService implements LinkReaderApi {
  readonly #contributions: Contributions;

  constructor({ contributions }: { contributions: Contributions }) {
    this.#contributions = contributions;
  }

  schemes(): readonly string[] {
    return this.#contributions(SchemeReaders).flatMap(({ value }) => value.schemes);
  }

  links(body: string, most: number): string[] {
    return linksIn(body, most);
  }

  nameIn(link: string): string {
    return nameIn(link);
  }

  renamed(link: string, name: string): string {
    return renamed(link, name);
  }

  read(text: string): ProxyEntry {
    const link = splitLink(text);
    const read = this.#entryOf(link);
    const { name, ...entry } = read;
    const template = checked(entry, link);
    const shown = typeof name === 'string' ? shownName(name) : link.name;
    return { ...template, name: shown, ...(link.description && { description: link.description }) };
  }

  #entryOf(link: Link): ReadEntry {
    const reader = this.#contributions(SchemeReaders).find(({ value }) =>
      value.schemes.includes(link.scheme),
    );
    if (!reader)
      throw new LinkError(
        'scheme',
        `its scheme ${link.scheme} is unknown; these are read: ${this.schemes().join(', ')}`,
      );
    try {
      const read: unknown = reader.value.read(link);
      if (typeof read === 'object' && read !== null && !('then' in read)) return read as ReadEntry;
      (read as { catch?: (ignore: () => void) => void } | null)?.catch?.(() => undefined);
      throw new Error('it must return an entry, and at once');
    } catch (error) {
      if (error instanceof LinkError) throw error;
      reader.fault(`reading a link of the scheme ${link.scheme}`, error);
      throw new LinkError('scheme', `the reader of ${link.scheme} failed; the log says why`);
    }
  }
}

/** The rules for entries of inbounds hold here too. */
function checked(entry: Omit<ReadEntry, 'name'>, { scheme }: Link): Omit<ProxyEntry, 'name'> {
  const found = inspect(EntryTemplateShape, entry as EntryTemplate);
  if ('value' in found) return found.value as Omit<ProxyEntry, 'name'>;
  const [issue] = found.issues;
  throw new LinkError(
    issue?.path ?? 'link',
    `its ${scheme} entry is invalid: ${issue?.message ?? 'unknown'}`,
  );
}
