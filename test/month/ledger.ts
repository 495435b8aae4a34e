// What a month of traffic must come to: the bytes that went through the core, by client, day and inbound.
export interface Bytes {
  readonly up: number;
  readonly down: number;
}

export const plus = (a: Bytes | undefined, b: Bytes): Bytes => ({
  up: (a?.up ?? 0) + b.up,
  down: (a?.down ?? 0) + b.down,
});
export const sum = (all: Iterable<Bytes>): Bytes => [...all].reduce(plus, { up: 0, down: 0 });

export class Ledger {
  /** by client id, then by day such as 2026-03-01 */
  readonly days = new Map<number, Map<string, Bytes>>();
  /** by client id, since its counters last began at zero */
  readonly current = new Map<number, Bytes>();
  readonly inbounds = new Map<number, Bytes>();

  add(clientId: number, inboundId: number, day: string, bytes: Bytes): void {
    const days = this.days.get(clientId) ?? new Map<string, Bytes>();
    this.days.set(clientId, days.set(day, plus(days.get(day), bytes)));
    this.current.set(clientId, plus(this.current.get(clientId), bytes));
    this.inbounds.set(inboundId, plus(this.inbounds.get(inboundId), bytes));
  }

  reset(clientId: number): void {
    this.current.delete(clientId);
  }

  forget(clientId: number): void {
    this.days.delete(clientId);
    this.current.delete(clientId);
  }
}
