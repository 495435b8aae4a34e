// The library that composes calls to authorities. It is loaded at the first order, as most panels never have one, and in
// pieces: all of it at once would block everything else for a fifth of a second.
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';

export type Library = typeof import('acme-client');
/** What the library asks its HTTP client for. */
export interface Asked {
  readonly url?: string;
  readonly method?: string;
  readonly data?: unknown;
}

/** What it needs, each after what it needs itself. One that a later version does not need may be missing. */
const PIECES = [
  ...['debug', 'follow-redirects', 'form-data', 'axios', 'node-forge', 'asn1js', '@peculiar/asn1-schema'],
  ...['@peculiar/asn1-x509', '@peculiar/asn1-cms', '@peculiar/asn1-pfx', 'tsyringe', '@peculiar/x509'],
];
let loaded: Promise<Library> | undefined;

async function load(send: (asked: Asked) => Promise<unknown>): Promise<Library> {
  const require = createRequire(createRequire(import.meta.url).resolve('acme-client'));
  for (const piece of PIECES) {
    try {
      require(piece);
    } catch {
      // The library itself says what it misses.
    }
    await turn();
  }
  const library = await import('acme-client');
  const { defaults } = library.axios;
  Object.assign((defaults as unknown as { acmeSettings: object }).acmeSettings, { retryMaxAttempts: 0 });
  defaults.adapter = send as unknown as NonNullable<typeof defaults.adapter>;
  return library;
}

/** Resolves with the library, whose calls go through the `send` of the first caller. */
export const acmeLibrary = (send: (asked: Asked) => Promise<unknown>): Promise<Library> =>
  (loaded ??= load(send).catch((error: unknown) => {
    loaded = undefined;
    throw error;
  }));
