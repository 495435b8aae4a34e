// The difference of two templates, as a JSON Patch (RFC 6902).
import { create } from 'jsondiffpatch';
import { format } from 'jsondiffpatch/formatters/jsonpatch';
import type { JsonObject } from '../engine/contract.js';

/** Entries of a list are the same ones where their tags are, so that one more in front does not change all others. */
const differ = create({
  objectHash: (item: object, at?: number) => {
    const { tag, ruleTag } = item as { tag?: unknown; ruleTag?: unknown };
    return typeof tag === 'string'
      ? tag
      : typeof ruleTag === 'string'
        ? ruleTag
        : `${at} ${JSON.stringify(item)}`;
  },
});

export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export const comparison = (from: JsonObject, to: JsonObject): PatchOperation[] =>
  format(differ.diff(from, to)) as PatchOperation[];
