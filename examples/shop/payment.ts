// What the payment provider reports, and what we sell for it.

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;
const PLANS: ReadonlyMap<string, { readonly bytes: number; readonly days: number }> = new Map([
  ['small', { bytes: 50 * GIB, days: 30 }],
  ['large', { bytes: 500 * GIB, days: 90 }],
]);

export interface Order {
  readonly orderId: string;
  readonly customer: string;
  readonly bytes: number;
  /** Unix ms */
  readonly expiresAt: number;
}

/** The provider sent something that it should not send; the message names the field. */
export class WrongPayment extends Error {}

function textAt(data: Record<string, unknown>, name: string, pattern: RegExp): string {
  const value = data[name];
  if (typeof value !== 'string' || !pattern.test(value))
    throw new WrongPayment(`data.${name} must match ${pattern}`);
  return value;
}

/** Reads the body of a delivery; undefined for an event that is not about a payment. Throws WrongPayment. */
export function orderOf(body: string): Order | undefined {
  let event: { type?: unknown; data?: unknown } | null;
  try {
    event = JSON.parse(body) as typeof event;
  } catch {
    throw new WrongPayment('the body is not valid JSON');
  }
  if (event?.type !== 'payment.succeeded') return undefined;
  if (typeof event.data !== 'object' || event.data === null) throw new WrongPayment('data must be an object');
  const data = event.data as Record<string, unknown>;
  const plan = PLANS.get(textAt(data, 'plan', /^\w{1,32}$/));
  if (!plan) throw new WrongPayment(`data.plan must be one of ${[...PLANS.keys()].join(', ')}`);
  const paidAt = Date.parse(textAt(data, 'paidAt', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/));
  if (Number.isNaN(paidAt)) throw new WrongPayment('data.paidAt must be a time');
  return {
    orderId: textAt(data, 'orderId', /^[\w-]{1,64}$/),
    customer: textAt(data, 'customer', /^[^\s@]{1,64}@[^\s@]{1,190}$/),
    bytes: plan.bytes,
    // Of the payment and not of now: a delivery that is repeated asks for the same.
    expiresAt: paidAt + plan.days * DAY_MS,
  };
}
