// A client has one password and one `auth` for all its inbounds, unless one inbound has another: clients that move in from
// another panel keep their links.
import { annotate, optional, shape, text } from '../../../kernel/index.js';
import type { ClientIdentity, Inbound, ProtocolCredential } from '../contract.js';
import { forClients } from '../form.js';
import { textOf } from '../stream/transport.js';

type Field = 'password' | 'auth';

/** Stores what was sent for this inbound, if the client has another value elsewhere. */
export const ownCredential = (field: Field): ProtocolCredential => ({
  flat: [],
  schema: shape(
    forClients('Credentials', { [field]: annotate(optional(text().max(255)), { secret: true }) }),
  ),
  create: (sent, { client, before }) => {
    const value = textOf(sent[field]) || textOf(before?.[field]);
    return value === '' || (!before && value === client[field]) ? undefined : { [field]: value };
  },
  keys: ({ [field]: value }) => [textOf(value)],
});

const ownOr =
  (field: Field) =>
  (client: ClientIdentity, { id }: Inbound): string =>
    textOf(client.credentials?.get(id)?.[field]) || client[field];
export const passwordOf = ownOr('password');
export const authOf = ownOr('auth');
