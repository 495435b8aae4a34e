// Computes the fields of a new client.
import { decideEnabled, NOTHING_USED } from './depletion.js';
import { sentValues } from './field-changes.js';
import { type ClientFields, fields } from './fields.js';
import type { NewClient } from './schema.js';

export function newClient(sent: NewClient, now: number): ClientFields {
  const { depletedCause = null, created_at: createdAt, updated_at: updatedAt } = sent;
  const created = fields.create({
    ...sentValues(sent),
    depletedCause,
    createdAt: createdAt || now,
    updatedAt: updatedAt || now,
    countedSince: now,
  });
  const { enable, depletedCause: cause, totalGB, expiryTime } = created;
  const limits = { enable, depletedCause: cause, totalGB, expiryTime, ...NOTHING_USED };
  return Object.assign(created, decideEnabled(limits, now));
}
