// Carries a plan out, in as few calls as the API allows. Each call has a key, so that a lost reply does nothing twice.
import { randomUUID } from 'node:crypto';
import type { Weir } from '@weir-panel/sdk';
import type { Plan } from './plan.js';
import type { Wishes } from './wishes.js';

const BATCH = 500;

function batches<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let i = 0; i < all.length; i += BATCH) parts.push(all.slice(i, i + BATCH));
  return parts;
}
const key = () => ({ idempotencyKey: randomUUID() });

/** Resolves with what the panel did not do, and why. Rejects at the first call that fails; the next run does the rest. */
export async function apply(weir: Weir, { group, inboundIds }: Wishes, plan: Plan): Promise<string[]> {
  const left: string[] = [];
  const told = ({ skipped }: { skipped: readonly { email: string; reason: string }[] }): void => {
    for (const { email, reason } of skipped) left.push(`${email}: ${reason}`);
  };
  for (const part of batches(plan.create)) {
    const body = part.map((client) => ({ client: { ...client, group }, inboundIds: [...inboundIds] }));
    told(await weir.clients.bulkCreate({ body }, key()));
  }
  // Each has values of its own, so there is no call for many.
  for (const { email, fields } of plan.change) await weir.clients.update({ email, body: fields }, key());
  for (const [id, emails] of plan.attach)
    for (const part of batches(emails))
      left.push(
        ...(await weir.clients.bulkAttach({ body: { emails: part, inboundIds: [id] } }, key())).errors,
      );
  for (const [id, emails] of plan.detach)
    for (const part of batches(emails))
      left.push(
        ...(await weir.clients.bulkDetach({ body: { emails: part, inboundIds: [id] } }, key())).errors,
      );
  for (const emails of batches(plan.enable)) told(await weir.clients.bulkEnable({ body: { emails } }, key()));
  for (const emails of batches(plan.disable))
    told(await weir.clients.bulkDisable({ body: { emails } }, key()));
  for (const emails of batches(plan.delete)) told(await weir.clients.bulkDelete({ body: { emails } }, key()));
  return left;
}
