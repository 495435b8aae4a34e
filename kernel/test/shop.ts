// A plugin with a route of every kind, for the tests of what happens to a request.
import {
  anything,
  bare as bareReply,
  bool,
  defineErrors,
  int,
  jsonObject,
  LARGE_BODY,
  list,
  mapOf,
  message,
  openObject,
  optional,
  payload,
  type Plugin,
  raw,
  route,
  type Route,
  withMessage,
  shape,
  text,
  word,
} from '../index.js';
import { bare, people, World } from './world.js';

export const errors = defineErrors('shop', {
  SOLD_OUT: [409, 'nothing is left'],
  LATER: [429, 'not so fast'],
});
export const seen: unknown[] = [];
export const keep = <T>(value: T): T => (seen.push(value), value);

const routes = (): Route[] => [
  route({
    method: 'GET',
    path: '/public',
    auth: 'anyone',
    doc: 'Public.',
    reply: message(),
    handle: () => 'hello',
  }),
  route({
    method: 'GET',
    path: '/things/{id}',
    auth: 'anyone',
    doc: 'One thing.',
    params: shape({ id: int() }),
    query: shape({ loud: optional(bool()) }),
    reply: payload(anything()),
    handle: ({ params, query }) => ({ ...params, ...query }),
  }),
  route({
    method: 'GET',
    path: '/things/list',
    auth: 'anyone',
    doc: 'All things.',
    reply: payload(list(text())),
    handle: () => withMessage('two things', ['a', 'b']),
  }),
  route({
    method: 'GET',
    path: '/named/{name}',
    auth: 'anyone',
    doc: 'By name.',
    params: shape({ name: word() }),
    reply: payload(text()),
    handle: ({ params }) => params.name,
  }),
  route({
    method: 'POST',
    path: '/orders',
    doc: 'For admins.',
    body: shape({ count: int().min(1), note: optional(text()) }),
    reply: payload(anything()),
    handle: ({ body, who }) => ({ ...body, by: who?.name }),
  }),
  route({
    method: 'POST',
    path: '/json',
    auth: 'anyone',
    doc: 'JSON.',
    body: shape({
      count: int(),
      note: optional(text()),
      nested: optional(openObject()),
      inner: optional(jsonObject()),
    }),
    reply: payload(anything()),
    handle: ({ body }) => keep(body),
  }),
  route({
    method: 'POST',
    path: '/large',
    doc: 'JSON of admins, as large as it gets.',
    bodyLimit: LARGE_BODY,
    body: shape({
      count: int(),
      note: optional(text()),
      nested: optional(openObject()),
      inner: optional(jsonObject()),
      names: optional(list(text().max(5)).max(100_000)),
      ages: optional(mapOf(int())),
      people: optional(list(shape({ name: text(), ids: list(int()).max(3) }))),
    }),
    reply: payload(anything()),
    handle: ({ body }) => keep(body),
  }),
  route({
    method: 'POST',
    path: '/asks-first',
    auth: 'anyone',
    doc: 'Asks who is there before it reads.',
    body: shape({ count: int() }),
    reply: message(),
    beforeBody: ({ headers }) => {
      if (headers['x-stranger']) throw errors.LATER();
    },
    handle: () => undefined,
  }),
  route({
    method: 'POST',
    path: '/form',
    auth: 'anyone',
    form: true,
    doc: 'JSON or form.',
    body: shape({ count: int() }),
    reply: payload(anything()),
    handle: ({ body }) => body,
  }),
  route({
    method: 'POST',
    path: '/nothing',
    auth: 'anyone',
    doc: 'Takes nothing.',
    reply: message(),
    handle: () => undefined,
  }),
  route({
    method: 'GET',
    path: '/bare',
    auth: 'anyone',
    doc: 'No envelope.',
    reply: bareReply(shape({ n: int() })),
    handle: () => ({ n: 1 }),
  }),
  route({
    method: 'GET',
    path: '/raw',
    auth: 'anyone',
    doc: 'Text.',
    reply: raw(),
    handle: ({ reply }) => (reply.header('Content-Type', 'text/plain'), 'plain text'),
  }),
  route({
    method: 'GET',
    path: '/wrong-reply',
    auth: 'anyone',
    doc: 'Lies.',
    reply: payload(shape({ n: int() })),
    handle: () => ({ n: 1, extra: 2 }) as { n: number },
  }),
  route({
    method: 'GET',
    path: '/bug',
    auth: 'anyone',
    doc: 'Fails.',
    reply: message(),
    handle: () => {
      throw new Error('secret of the house');
    },
  }),
  route({
    method: 'GET',
    path: '/sold-out',
    auth: 'anyone',
    doc: 'Fails for a reason.',
    reply: message(),
    errors: [errors.SOLD_OUT],
    handle: () => {
      throw errors.SOLD_OUT('no apples', { path: 'apples' });
    },
  }),
  route({
    method: 'GET',
    path: '/later',
    auth: 'anyone',
    doc: 'Fails with a header.',
    reply: message(),
    errors: [errors.LATER],
    handle: () => {
      throw errors.LATER(undefined, { headers: { 'Retry-After': '7' } });
    },
  }),
  route({
    method: 'GET',
    path: '/cookies',
    auth: 'anyone',
    doc: 'Cookies both ways.',
    reply: payload(anything()),
    handle: ({ cookies, reply }) => {
      reply.cookie('seen', '1', { maxAge: 5000 });
      reply.cookie('open', '2', { httpOnly: false });
      reply.clearCookie('old');
      return cookies;
    },
  }),
  route({
    method: 'GET',
    path: '/moved',
    auth: 'anyone',
    doc: 'Elsewhere.',
    reply: raw(),
    handle: ({ reply }) => (reply.status(302), reply.header('Location', '/public'), ''),
  }),
  route({
    method: 'GET',
    path: '/asked',
    auth: 'anyone',
    doc: 'What was asked.',
    reply: payload(anything()),
    handle: ({ url, method, host, ip, secure }) => ({ url, method, host, ip, secure }),
  }),
];
export const shop: Plugin = bare('shop', { routes, essential: true });
export const open = (env: Record<string, string> = {}) => World.boot([shop, people], { env });
