// The header Routing from a text elsewhere: a routing profile of app H, or the link that holds one.
import { inspect, jsonObject, sentenceOf } from '../../kernel/index.js';

export const LONGEST_ROUTING = 16 * 1024;
const LONGEST_HEADER = 8192;
const LINK = /^happ:\/\/routing\/(?:off|(?:on)?add\/[\w+/=-]+)$/;
const PROFILE = jsonObject();

/** The value of the header; '' for an empty text. Throws with a sentence. */
export function routingOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const value = trimmed.startsWith('{') ? linkTo(trimmed) : trimmed;
  if (!LINK.test(value))
    throw new Error('it must be a routing profile in JSON, or a link that begins with happ://routing/');
  if (value.length > LONGEST_HEADER)
    throw new Error(`the header would have ${value.length} characters; programs take ${LONGEST_HEADER}`);
  return value;
}

function linkTo(json: string): string {
  const result = inspect(PROFILE, json);
  if ('issues' in result) throw new Error(sentenceOf(result.issues));
  return `happ://routing/onadd/${Buffer.from(JSON.stringify(result.value)).toString('base64')}`;
}
