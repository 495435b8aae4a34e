// The envelope of a failure against what the OpenAPI document says of all failures.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApi } from '../../plugins/api-docs/openapi.js';
import type { Answer } from './api.js';
import type { TestPanel } from './panel.js';

/** Returns what the document says against this reply; nothing if it is as described. */
export async function notAsDescribed(panel: TestPanel, { text }: Pick<Answer, 'text'>): Promise<string> {
  const { components } = await panel.get<OpenApi>('/panel/api/openapi.json');
  const { Failure } = components['schemas'] as { readonly Failure: object };
  const ajv = new Ajv2020({ strict: false });
  (formats as unknown as { default: (of: Ajv2020) => void }).default(ajv);
  return ajv.validate(Failure, JSON.parse(text)) ? '' : ajv.errorsText();
}
