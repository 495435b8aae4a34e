// Reads share links: from the text of a link to the neutral entry of a proxy.
import { extensionPoint, token } from '../../kernel/index.js';
import type { ProxyEntry } from '../inbounds/contract.js';
import type { Link } from './link.js';

export type { Link } from './link.js';
export { LinkError } from './link-error.js';

/** An entry as a reader makes it. Without a name it gets that of the link. */
export type ReadEntry = Omit<ProxyEntry, 'name'> & { readonly name?: string };

/** Reads the links of one or more schemes. */
export interface SchemeReader {
  /** in lower case, without `://` */
  readonly schemes: readonly string[];
  /** Synchronous. Throws a LinkError that names the part for a link that it cannot read; any other error is a fault of its plugin. */
  read(link: Link): ReadEntry;
}
/** Readers of further schemes. */
export const SchemeReaders = extensionPoint<SchemeReader>(
  'link-reader',
  'SchemeReaders',
  (reader, _, others) => {
    const { schemes, read } = reader;
    if (!Array.isArray(schemes) || schemes.length === 0 || typeof read !== 'function')
      return 'a reader needs a list of schemes and a function read';
    const wrong = (schemes as readonly unknown[]).find(
      (scheme) => typeof scheme !== 'string' || !/^[a-z][a-z0-9+.-]{0,31}$/.test(scheme),
    );
    if (wrong !== undefined) return 'a scheme is a word in lower case, without ://';
    for (const { value, plugin } of others) {
      const both = schemes.find((scheme: string) => value.schemes.includes(scheme));
      if (both !== undefined) return `the scheme ${both} is read by the plugin ${plugin} already`;
    }
    return undefined;
  },
);

export interface LinkReaderApi {
  /** Returns the entry of a link, complete and valid, with its name ('' where it has none). Throws a LinkError, whatever the text. Takes well under a millisecond. */
  read(link: string): ProxyEntry;
  /** Returns the links of a subscription body (lines, or lines in base64), also of schemes that nobody reads; at most `most`. Throws a LinkError where there is none. */
  links(body: string, most: number): string[];
  /** The name in a link of any scheme; '' where it has none. Throws a LinkError for what is not a link. */
  nameIn(link: string): string;
  /** The same link under another name; unchanged where its scheme has no place for names. Throws a LinkError for what is not a link. */
  renamed(link: string, name: string): string;
  /** The schemes that are read now. */
  schemes(): readonly string[];
}
export const LinkReader = token<LinkReaderApi>('link-reader', 'LinkReader');
