// What a call that changes the core answers, and how a reply says it.

/** Whether the core, or the node that it is for, has the change. The engine retries a `pending` one by itself; a user that the core rejects is retried once, and then with its next change. */
export interface Applied {
  readonly pending: boolean;
  readonly reason: string;
  /** the core rejects a part; it keeps the previous one, and only another change helps */
  readonly rejected?: true;
  /** name of the node that does not have it; without it, the core of this machine, or a program beside it, does not */
  readonly node?: string;
  /** of a large change, which its caller does not wait for: users on their way to the core, and about how long they take */
  readonly onTheWay?: { readonly users: number; readonly ms: number };
}
/** The core has the change. */
export const DONE: Applied = { pending: false, reason: '' };
/** Adds a note to a reply when the change is saved but the core, or the node that it is for, does not have it yet. */
export const describeResult = (done: string, { pending, reason, node }: Applied): string =>
  pending
    ? `${done}; ${node === undefined ? 'the core' : `the node ${node}`} does not have it yet: ${reason}`
    : done;
