import {
  bool,
  int,
  list,
  oneOf,
  openObject,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  withMessage,
  word,
} from '../../kernel/index.js';
import { errors } from './errors.js';
import type { AuditList } from './list.js';
import { asNoted, HEAD } from './noted.js';
import type { Undo } from './undo.js';
import type { Verification } from './verification.js';

const API = '/panel/api/x/audit';
const time = () => optional(int().min(0).max(8_640_000_000_000_000));
const exactly = (longest: number) => optional(word().max(longest));

const Earlier = shape({
  head: optional(
    word()
      .pattern(HEAD, 'the head of an earlier verification')
      .example(`12:${'0'.repeat(64)}`),
  ),
}).example({});

export const routes = ({
  auditList,
  undo,
  verification,
}: {
  readonly auditList: AuditList;
  readonly undo: Undo;
  readonly verification: Verification;
}): Route[] => [
  route({
    method: 'GET',
    path: `${API}/changes`,
    name: 'audit.changes',
    doc: 'Who changed what, the newest change first. For the next page, send the id of the last change as `before`.',
    query: shape({
      area: exactly(32).description('kind of the record: client, inbound, setting …'),
      kind: optional(oneOf('added', 'updated', 'deleted', 'done')),
      name: exactly(255).description('name of the record: an email, a tag, the name of a setting'),
      subject: exactly(64).description('what stays of a record that gets another name: its id'),
      who: exactly(255).description('name of the admin, the API token, the command or the plugin'),
      ip: exactly(64),
      from: time().description('Unix ms, from this one on'),
      to: time().description('Unix ms, before this one'),
      before: optional(int().min(1)),
      limit: withDefault(int().min(1).max(200), 50),
    }),
    reply: payload(
      list(
        shape({
          id: int(),
          entry: int().description('changes of one call have the same'),
          at: int().description('Unix ms'),
          who: text(),
          whoKind: text().description('session, token, command or plugin'),
          ip: text().description('blank if no request asked for it'),
          area: text(),
          kind: text().description('added, updated, deleted; done: an act such as a restart'),
          name: text(),
          subject: text(),
          undoes: int().description('the entry that this one undoes; 0 for none'),
          undoable: bool().description('whether POST {entry}/undo can undo its entry now'),
          undoableReason: text().description('why not; blank when it can'),
          fields: openObject().description(
            'by path of the field, the value before and after; of secrets only that they changed',
          ),
        }),
      ),
    ),
    handle: ({ query }) => auditList.changes(query),
  }),
  route({
    method: 'POST',
    path: `${API}/{entry}/undo`,
    name: 'audit.undo',
    doc: 'Undoes the changes of one call: sets the fields back that it changed, or makes again what it deleted, with the checks of such an edit. All or nothing; 409 when something of it was changed since. The undo is an entry too, and can be undone.',
    params: shape({ entry: int().min(1).example(1) }),
    reply: payload(
      shape({
        entry: int().description('of the undo'),
        undoes: int(),
        changes: int().description('records that are set back'),
      }),
    ),
    errors: [errors.NO_ENTRY, errors.TOO_OLD, errors.NOT_UNDOABLE, errors.UNDONE, errors.CHANGED_SINCE],
    handle: async ({ params, who, ip, host }) => {
      const { message, ...undone } = await undo.undo(params.entry, { ...who, ip, host });
      return withMessage(message, undone);
    },
  }),
  route({
    method: 'POST',
    path: `${API}/verify`,
    name: 'audit.verify',
    doc: 'Compares all entries with the chain of their hashes. Note `head`, and send it another time: then entries that were removed at the end are found too.',
    body: optional(Earlier),
    reply: payload(
      shape({
        entries: int(),
        changes: int(),
        problems: list(text()).description(
          'sentences, at most 20; none: all entries are those that were written',
        ),
        head: text().description('number and hash of the newest entry'),
      }),
    ),
    errors: [errors.NO_KEY],
    handle: async ({ body, reply }) => {
      const verified = await verification.run(asNoted(body?.head), () => reply.progressed());
      return { ...verified, head: `${verified.head.id}:${verified.head.hash}` };
    },
  }),
];
