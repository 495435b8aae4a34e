import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  definePlugin,
  file,
  list,
  message,
  payload,
  Refusal,
  route,
  shape,
  staticFiles,
  stream,
  text,
  word,
} from '@weir-panel/weir/kernel';

const MIB = 1024 * 1024;
/** Neither a path nor a dotfile. */
const NAME = /^[\w-][\w.-]{0,99}$/;

export default definePlugin({
  name: 'acme-shelf',
  version: '1.0.0',
  api: 1,
  about: 'Stores documents for the admins.',
  routes: ({ dataDirectory }) => {
    const shelf = join(dataDirectory, 'acme-shelf');
    return [
      route({
        method: 'POST',
        path: '/panel/api/x/acme-shelf/files',
        doc: 'Stores a document.',
        files: { document: file({ maxBytes: 20 * MIB, endings: ['.pdf', '.txt'] }) },
        reply: message(),
        handle: async ({ files }) => {
          const { name, path } = files.document;
          if (!NAME.test(name))
            throw new Refusal('document must be letters, digits, - _ or dots', { path: 'document' });
          await mkdir(shelf, { recursive: true });
          await rename(path, join(shelf, name));
          return `kept ${name}`;
        },
      }),
      route({
        method: 'GET',
        path: '/panel/api/x/acme-shelf/files',
        doc: 'Lists the names of all documents.',
        reply: payload(list(text())),
        handle: () => readdir(shelf).catch(() => []),
      }),
      route({
        method: 'GET',
        path: '/panel/api/x/acme-shelf/files/{name}',
        doc: 'A document.',
        params: shape({ name: word().pattern(NAME).example('example.txt') }),
        reply: stream('application/octet-stream'),
        handle: async ({ params: { name } }) => {
          const path = join(shelf, name);
          const facts = await stat(path).catch(() => undefined);
          if (!facts) throw new Refusal('there is no document of this name', { status: 404 });
          return {
            body: () => createReadStream(path),
            fileName: name,
            length: facts.size,
            etag: `${facts.mtimeMs}-${facts.size}`,
          };
        },
      }),
      staticFiles({
        path: '/panel/x/acme-shelf/',
        folder: fileURLToPath(new URL('../page', import.meta.url)),
        doc: 'Its page.',
      }),
    ];
  },
});
