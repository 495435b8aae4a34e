// A reply that is composed once, and again when other plugins run.
import { createHash } from 'node:crypto';
import type { PluginsApi, Streamed } from '../../kernel/index.js';

async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}

interface Text {
  /** the plugins that it was composed for */
  readonly of: string;
  readonly body: Buffer;
  readonly etag: string;
}

export class Composed {
  readonly #plugins: Pick<PluginsApi, 'list'>;
  readonly #compose: () => object;
  #text: Text | undefined;

  constructor(plugins: Pick<PluginsApi, 'list'>, compose: () => object) {
    this.#plugins = plugins;
    this.#compose = compose;
  }

  /** Returns the reply in its envelope. */
  get(): Streamed<never> {
    const { body, etag } = this.#current();
    return { body: () => piecesOf(body), length: body.length, etag };
  }

  #current(): Text {
    const of = this.#plugins
      .list()
      .map(({ name, version, state }) => `${name} ${version} ${state}`)
      .join();
    if (this.#text?.of !== of) {
      const body = Buffer.from(JSON.stringify({ success: true, msg: '', obj: this.#compose() }));
      const etag = createHash('sha256').update(body).digest('base64url').slice(0, 27);
      this.#text = { of, body, etag };
    }
    return this.#text;
  }
}
