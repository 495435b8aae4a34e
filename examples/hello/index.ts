import { definePlugin, payload, route, shape, text, word } from '@weir-panel/weir/kernel';

export default definePlugin({
  name: 'hello',
  version: '1.0.0',
  api: 1,
  about: 'Greets.',
  routes: () => [
    route({
      method: 'GET',
      path: '/panel/api/x/hello/{name}',
      name: 'hello.greet',
      doc: 'A greeting.',
      params: shape({ name: word() }),
      reply: payload(shape({ greeting: text() })),
      handle: ({ params }) => ({ greeting: `hello, ${params.name}` }),
    }),
  ],
});
