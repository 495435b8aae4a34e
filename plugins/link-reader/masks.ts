// Masks of a link (`fm`): JSON in the form of the core's config. Source: xtls.github.io, FinalMaskObject.
import { type FinalMask, finalMaskOf } from '../inbounds/contract.js';
import { LinkError } from './link-error.js';
import type { Parameters } from './parameters.js';
import { jsonIn } from './text.js';

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** A mask that is not understood is an error: without it nothing connects. */
export function masksIn(parameters: Parameters): { readonly finalMask?: FinalMask } {
  const text = parameters.get('fm');
  if (text === '') return {};
  const object = jsonIn(text, 'fm');
  const finalMask = finalMaskOf(object);
  if (
    lengthOf(object['tcp']) !== lengthOf(finalMask?.tcp) ||
    lengthOf(object['udp']) !== lengthOf(finalMask?.udp)
  )
    throw new LinkError('fm', 'its masks (fm) have one that is incomplete or of an unknown type');
  return finalMask ? { finalMask } : {};
}
