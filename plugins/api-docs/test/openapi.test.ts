// The document as programs fetch it: valid by an independent measure, whole, and of this panel.
import { Validator } from '@seriousme/openapi-schema-validator';
import { Readable } from 'node:stream';
import test from 'ava';
import {
  definePlugin,
  defineErrors,
  file,
  fileList,
  int,
  message,
  payload,
  route,
  shape,
  staticFiles,
  stream,
  text,
} from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import type { OpenApi } from '../openapi.js';
import { derivedName } from '../operation-names.js';

const DOCUMENT = '/panel/api/openapi.json';
const boot = (options: Parameters<typeof TestPanel.boot>[0] = {}) =>
  TestPanel.boot({ ...options, plugins: [new FakeEngine().plugin, ...(options.plugins ?? [])] });

test('the document is OpenAPI 3.1 by an independent validator', async (t) => {
  await using panel = await boot();
  const document = await panel.get<OpenApi>(DOCUMENT);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(
    structuredClone(document) as unknown as Record<string, unknown>,
  );
  t.true(valid, JSON.stringify(errors, undefined, 1));
  t.is(validator.version, '3.1');
  const broken = structuredClone(document) as unknown as { paths: Record<string, unknown> };
  broken.paths['/x'] = { get: { responses: 'none' } };
  t.false(
    (await new Validator().validate(broken as unknown as Record<string, unknown>)).valid,
    'the validator takes everything',
  );
});

test('it comes in the envelope, and bare for those who ask', async (t) => {
  await using panel = await boot();
  const wrapped = await panel.call<OpenApi>(DOCUMENT);
  t.true(wrapped.body.success);
  t.is(wrapped.headers.get('content-type'), 'application/json; charset=utf-8');
  const { obj } = wrapped.body;
  const bare = await panel.call(`${DOCUMENT}?raw=1`);
  t.deepEqual(JSON.parse(bare.text), obj);
  t.is(bare.headers.get('content-type'), 'application/vnd.oai.openapi+json');
  const accepted = await panel.call(DOCUMENT, {
    headers: { accept: 'text/html, application/vnd.oai.openapi+json;q=0.9' },
  });
  t.is(accepted.text, bare.text);
  t.true((await panel.call(DOCUMENT, { headers: { accept: 'application/json' } })).body.success);
  t.is((await panel.call(`${DOCUMENT}?raw=yes`)).status, 400);
  t.is((await panel.call(DOCUMENT, { anonymous: true })).status, 401);
});

test('every route of the panel is in it, once, and can be told from the others', async (t) => {
  await using panel = await boot();
  const { paths, tags } = await panel.get<OpenApi>(DOCUMENT);
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = panel.kernel.listeners
    .routes()
    .filter(({ route: { listener, reply } }) => listener === 'panel' && reply.kind !== 'folder')
    .map(({ path, route: { method } }) => `${method} ${path}`);
  t.true(served.length > 20);
  t.deepEqual(described.sort(), served.sort());
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  t.is(
    new Set(operations.map(({ operationId }) => operationId)).size,
    operations.length,
    'two operations have one id',
  );
  for (const { operationId, tags: own } of operations) {
    t.regex(operationId, /^[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*){1,2}$/);
    t.true(
      own.every((tag) => tags.some(({ name, description }) => name === tag && description !== '')),
      operationId,
    );
  }
  // Stable: made of method and path alone.
  for (const [method, path, name] of [
    ['GET', '/panel/api/clients/get/{email}', 'clients.getGetByEmail'],
    ['POST', '/panel/api/engine/outbound-subs/{id}', 'engine.outboundSubsById'],
    ['POST', '/login', 'login.post'],
    ['GET', '/panel/api/x/acme-tally/days', 'acmeTally.getDays'],
    ['DELETE', '/panel/api/x/hello/{name}', 'hello.deleteByName'],
  ] as const)
    t.is(derivedName(method, path), name);
});

const errors = defineErrors('sample', {
  LATE: [409, 'it is late', shape({ hours: int() })],
  EARLY: [409, 'it is early'],
  GONE: [404, 'it is gone'],
});
const sample = definePlugin({
  name: 'sample',
  version: '1.0.0',
  api: 1,
  about: 'A sample.',
  routes: () => [
    route({
      method: 'PUT',
      path: '/panel/api/sample/{id}',
      doc: 'Does it.',
      params: shape({ id: int().min(1).description('which') }),
      query: shape({ how: text() }),
      body: shape({ what: text() }),
      form: true,
      reply: payload(shape({ done: int() })),
      errors: [errors.LATE, errors.EARLY, errors.GONE],
      handle: () => ({ done: 1 }),
    }),
    route({
      method: 'GET',
      path: '/panel/api/sample/open',
      auth: 'anyone',
      doc: 'Open.',
      reply: message(),
      handle: () => 'done',
    }),
    route({
      method: 'GET',
      path: '/panel/api/sample/fails',
      doc: 'Fails.',
      reply: message(),
      handle: () => {
        throw new Error('a bug');
      },
    }),
  ],
});

test('an operation tells parameters, bodies, replies, errors and who may call it', async (t) => {
  await using panel = await boot({ plugins: [sample] });
  const { paths, tags, components } = await panel.get<OpenApi>(DOCUMENT);
  const put = paths['/panel/api/sample/{id}']?.['put'];
  t.deepEqual(put?.parameters, [
    { name: 'id', in: 'path', required: true, description: 'which', schema: { type: 'integer', minimum: 1 } },
    { name: 'how', in: 'query', required: true, schema: { type: 'string' } },
  ]);
  const body = { schema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } };
  t.deepEqual(put?.requestBody, {
    description: 'At most 1 MiB.',
    required: true,
    content: { 'application/json': body, 'application/x-www-form-urlencoded': body },
  });
  t.deepEqual(put?.security, [{ bearer: [] }, { session: [], csrf: [] }]);
  t.deepEqual(Object.keys(put?.responses ?? {}), [
    '200',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '415',
    '421',
    '431',
    'default',
  ]);
  t.is(put?.responses['409']?.['description'], '`SAMPLE_LATE`: it is late\n\n`SAMPLE_EARLY`: it is early');
  const done = { type: 'object', properties: { done: { type: 'integer' } }, required: ['done'] };
  t.like(put?.responses['200'], {
    content: {
      'application/json': {
        schema: { required: ['success', 'msg', 'obj'], properties: { success: { const: true }, obj: done } },
      },
    },
  });
  const { Failure } = components['schemas'] as { Failure: { properties: { obj: { anyOf: unknown[] } } } };
  t.deepEqual(
    Failure.properties.obj.anyOf.at(-1),
    {
      description: 'of `SAMPLE_LATE`',
      type: 'object',
      properties: { hours: { type: 'integer' } },
      required: ['hours'],
    },
    'what an error tells in `obj`',
  );
  const open = paths['/panel/api/sample/open']?.['get'];
  t.deepEqual(open?.security, []);
  t.deepEqual(Object.keys(open?.responses ?? {}), ['200', '421', '431', 'default']);
  t.deepEqual(
    tags.find(({ name }) => name === 'sample'),
    { name: 'sample', description: 'A sample.' },
  );
});

test('two routes of one name: the plugin that came later is left out, and told why', async (t) => {
  const named = (plugin: string, name: string) =>
    definePlugin({
      name: plugin,
      version: '1.0.0',
      api: 1,
      about: 'Named.',
      routes: () => [
        route({
          method: 'GET',
          path: `/panel/api/x/${plugin}/it`,
          name,
          doc: 'It.',
          reply: message(),
          handle: () => '',
        }),
      ],
    });
  await using panel = await boot({
    outside: [named('fits', 'fits.it'), named('grabs', 'clients.list')],
    partial: true,
  });
  const stateOf = (name: string) => panel.kernel.plugins().find((plugin) => plugin.name === name);
  t.is(stateOf('fits')?.state, 'running');
  t.is(stateOf('grabs')?.state, 'failed');
  t.regex(stateOf('grabs')?.reason ?? '', /clients\.list must begin with grabs\./);
  const { paths } = await panel.get<OpenApi>(DOCUMENT);
  t.is(paths['/panel/api/x/fits/it']?.['get']?.operationId, 'fits.it');
  t.is(paths['/panel/api/clients/list/paged']?.['get']?.operationId, 'clients.list');
});

test('omits routes of absent and disabled plugins', async (t) => {
  await using panel = await boot({ plugins: [sample] });
  const paths = async () =>
    Object.keys((await panel.get<OpenApi>(DOCUMENT)).paths).filter((path) =>
      path.startsWith('/panel/api/sample'),
    );
  t.is((await paths()).length, 3);
  for (let i = 0; i < 30 && (await panel.call('/panel/api/sample/fails')).status === 500; i++);
  t.is((await panel.call('/panel/api/sample/open')).status, 503);
  t.deepEqual(await paths(), []);
  await using without = await boot();
  t.false((await without.call(DOCUMENT)).text.includes('/panel/api/sample'));
});

test('its server is the base path of the panel', async (t) => {
  await using panel = await boot({ env: { WEIR_BASE_PATH: '/' } });
  t.deepEqual((await panel.get<OpenApi>(DOCUMENT)).servers, [{ url: '/' }]);
  panel.kernel.listeners.panel.mountAt('/deep/base/');
  t.deepEqual((await panel.get<OpenApi>(`/deep/base${DOCUMENT}`)).servers, [{ url: '/deep/base' }]);
});

test('a part that cannot be described is a warning, once, and the rest is described', async (t) => {
  const odd = definePlugin({
    name: 'odd',
    version: '1.0.0',
    api: 1,
    about: 'Odd.',
    routes: () => [
      route({ method: 'GET', path: '/panel/api/odd/{x}', doc: 'Odd.', reply: message(), handle: () => '' }),
    ],
  });
  await using panel = await boot({ plugins: [odd] });
  await panel.get(DOCUMENT);
  t.true('/panel/api/odd/{x}' in (await panel.get<OpenApi>(DOCUMENT)).paths);
  const warnings = panel.log.filter((line) => line.includes('cannot be described'));
  t.is(warnings.length, 1);
  t.true(warnings[0]?.includes('do not describe {x}'), warnings[0]);
});

test('streams, uploads and wildcards are described; files of a page are no calls', async (t) => {
  await using panel = await boot({
    plugins: [
      definePlugin({
        name: 'reports',
        version: '1.0.0',
        api: 1,
        about: 'Has every kind of route.',
        routes: () => [
          route({
            method: 'GET',
            path: '/panel/api/reports/{path*}',
            doc: 'A report.',
            params: shape({ path: text() }),
            reply: stream('text/csv', { headers: shape({ 'x-rows': int() }) }),
            handle: () => ({ body: Readable.from(['']), headers: { 'x-rows': 0 } }),
          }),
          route({
            method: 'POST',
            path: '/panel/api/reports/upload',
            doc: 'Takes a report.',
            body: shape({ title: text() }),
            files: {
              report: file({ maxBytes: 1024, endings: ['.csv'] }),
              more: fileList({ maxBytes: 1024, most: 3 }),
            },
            reply: message(),
            handle: ({ files }) => files.report.name,
          }),
          staticFiles({ path: '/reports/', folder: import.meta.dirname, doc: 'Its page.' }),
        ],
      }),
    ],
  });
  const document = await panel.get<OpenApi>(DOCUMENT);
  const { valid, errors } = await new Validator().validate(
    structuredClone(document) as unknown as Record<string, unknown>,
  );
  t.true(valid, JSON.stringify(errors, undefined, 1));
  const { get } = document.paths['/panel/api/reports/{path}'] ?? {};
  t.is(get?.operationId, 'reports.getByPath');
  t.deepEqual(
    get?.parameters?.map(({ name, in: where }) => [name, where]),
    [['path', 'path']],
  );
  t.deepEqual(get?.responses['200'], {
    description: 'The content itself, as a stream.',
    content: { 'text/csv': {} },
    headers: { 'x-rows': { schema: { type: 'integer' } } },
  });
  const body = document.paths['/panel/api/reports/upload']?.['post']?.requestBody;
  const part = (description: string) => ({ description, contentMediaType: 'application/octet-stream' });
  t.deepEqual(body?.content['multipart/form-data']?.schema as unknown, {
    type: 'object',
    properties: {
      title: { type: 'string' },
      report: part('At most 1 KiB, its name ends with .csv.'),
      more: { type: 'array', items: part('At most 1 KiB.'), maxItems: 3 },
    },
    required: ['title', 'report'],
  });
  t.deepEqual(
    Object.keys(document.paths).filter((path) => path.startsWith('/reports')),
    [],
  );
});
