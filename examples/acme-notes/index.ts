import {
  contribute,
  definePlugin,
  int,
  message,
  optional,
  payload,
  route,
  shape,
  singleton,
} from '@weir-panel/weir/kernel';
import { AuditedHooks, Undoers } from '@weir-panel/weir/plugins/audit';
import { version } from '@weir-panel/weir/plugins/record-versions';
import { duringNoteSave, Notes, noteUndoer, noteVersion, recorded } from './notes.js';
import { fields, migrations, tables } from './tables.js';

const { title, body } = fields.schemas;
const Id = shape({ id: int().min(1) });
const NoteReply = shape({ id: int(), title, body, version: version() });
const PATH = '/panel/api/x/acme-notes/notes';

export default definePlugin({
  name: 'acme-notes',
  version: '1.0.0',
  api: 1,
  about: 'Notes of the admins, with versions and undo.',
  tables,
  migrations,
  hooks: [duringNoteSave],
  services: { notes: singleton(Notes) },
  contributes: ({ notes }) => [contribute(AuditedHooks, recorded), contribute(Undoers, noteUndoer(notes))],
  routes: ({ notes }) => {
    const shown = ({ id }: { readonly id: number }) => notes.shown(id);
    return [
      route({
        method: 'GET',
        path: `${PATH}/{id}`,
        doc: 'A note.',
        params: Id,
        reply: payload(NoteReply),
        handle: ({ params }) => shown(params),
      }),
      route({
        method: 'POST',
        path: PATH,
        doc: 'Adds a note.',
        body: shape({ title, body }).example({ title: 'Milk', body: 'is out' }),
        reply: payload(NoteReply),
        handle: async ({ body: sent, who }) => shown(await notes.add(sent, who)),
      }),
      noteVersion.guarded(
        route({
          method: 'POST',
          path: `${PATH}/{id}`,
          doc: 'Changes what is sent of a note.',
          params: Id,
          body: shape({ title: optional(title), body: optional(body) }).example({ body: 'is there' }),
          reply: payload(NoteReply),
          handle: async ({ params, body: sent, who }) => shown(await notes.update(params.id, sent, who)),
        }),
        shown,
      ),
      noteVersion.guarded(
        route({
          method: 'DELETE',
          path: `${PATH}/{id}`,
          doc: 'Deletes a note.',
          params: Id,
          reply: message(),
          handle: ({ params, who }) => notes.delete(params.id, who),
        }),
        shown,
      ),
    ];
  },
});
