// The API description names every setting of every plugin, and of secrets only that there are any.
import test from 'ava';
import { definePlugin, int, text, setting } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';

const group = {
  sampleSize: setting(int().min(1), 5, 'how large'),
  samplePassword: setting(text(), 'hidden', 'opens the sample', { secret: true }),
} as const;
const sample = definePlugin({
  name: 'sample',
  version: '1.0.0',
  api: 1,
  about: 'A sample.',
  settings: group,
});

type Properties = Record<string, { type?: string; enum?: unknown[]; description?: string }>;
interface Document {
  readonly paths: Record<
    string,
    {
      post: {
        requestBody: { content: Record<string, { schema: { properties: Properties; required?: string[] } }> };
        responses: Record<
          string,
          {
            content: Record<
              string,
              { schema: { properties: { obj: { properties: Properties; required: string[] } } } }
            >;
          }
        >;
      };
    }
  >;
}

test('settings of all plugins are described as they are sent and shown', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, sample] });
  const { paths } = await panel.get<Document>('/panel/api/openapi.json');
  const shown =
    paths['/panel/api/setting/all']?.post.responses['200']?.content['application/json']?.schema.properties
      .obj;
  const sent = paths['/panel/api/setting/update']?.post.requestBody.content['application/json']?.schema;
  t.deepEqual(
    Object.keys(shown?.properties ?? {}).sort(),
    Object.keys(await panel.get<object>('/panel/api/setting/all', { method: 'POST' })).sort(),
  );
  t.like(shown?.properties['sampleSize'], { type: 'integer', description: 'how large' });
  t.deepEqual(shown?.properties['samplePassword'], {
    type: 'string',
    enum: [''],
    description: 'opens the sample; never shown',
  });
  t.like(shown?.properties['hasSamplePassword'], { type: 'boolean' });
  t.like(sent?.properties['samplePassword'], { type: 'string', description: 'opens the sample' });
  t.like(sent?.properties['clearSamplePassword'], { type: 'boolean' });
  t.is(sent?.required, undefined);
  t.true(sent !== undefined && !('pinned' in sent.properties));
  // What is described is what is checked.
  t.is((await panel.call('/panel/api/setting/update', { body: { sampleSize: 0 } })).status, 400);
  await panel.get('/panel/api/setting/update', { body: { samplePassword: '', sampleSize: 6, unknown: 1 } });
  t.like(await panel.get('/panel/api/setting/all', { method: 'POST' }), {
    sampleSize: 6,
    samplePassword: '',
    hasSamplePassword: true,
  });
  await panel.get('/panel/api/setting/update', { body: { clearSamplePassword: true } });
  t.like(await panel.get('/panel/api/setting/all', { method: 'POST' }), { hasSamplePassword: false });
});
