// The admin's template: read, and checked when it is saved, with the place of what is wrong.
import type { Json, JsonObject } from '../engine/contract.js';
import { ALL } from './default-template.js';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A place in the JSON, such as `outbounds[2].tag`, and what must be there. */
const wrong = (place: string, must: string): never => {
  throw new Error(`${place} ${must}`);
};

function listIn(template: JsonObject, name: string): readonly JsonObject[] {
  const list = template[name] ?? [];
  if (!Array.isArray(list)) return wrong(name, 'must be a list');
  return list.map((item: Json, i) => (isObject(item) ? item : wrong(`${name}[${i}]`, 'must be an object')));
}

const groupOf = ({ outbounds }: JsonObject): readonly Json[] => (Array.isArray(outbounds) ? outbounds : []);

/** The tags of the template's own outbounds and endpoints, with their places. */
export function tagsOf(template: JsonObject): Map<string, string> {
  const tags = new Map<string, string>();
  for (const name of ['outbounds', 'endpoints'])
    for (const [i, { tag }] of listIn(template, name).entries()) {
      const place = `${name}[${i}].tag`;
      if (typeof tag !== 'string' || tag === '') return wrong(place, 'must be a text');
      const other = tags.get(tag);
      if (other !== undefined) wrong(place, `is "${tag}", as ${other} is; tags are keys`);
      tags.set(tag, place);
    }
  return tags;
}

/** Throws with the place of what sing-box would refuse, or where no entry would come in. */
export function readTemplate(text: string): JsonObject {
  let template: Json;
  try {
    template = JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(template)) throw new Error('it must be a JSON object, the configuration of sing-box');
  const tags = tagsOf(template);
  const groups = listIn(template, 'outbounds');
  for (const [i, group] of groups.entries())
    for (const [k, member] of groupOf(group).entries())
      if (member !== ALL && (typeof member !== 'string' || !tags.has(member)))
        wrong(
          `outbounds[${i}].outbounds[${k}]`,
          `must be "${ALL}" or the tag of an outbound of this template`,
        );
  if (!groups.some((group) => groupOf(group).includes(ALL)))
    wrong('outbounds', `must have a group, such as a selector, with "${ALL}" in its outbounds`);
  return template;
}
