// Gives the customer what was paid for: one client for each order, however often the order comes.
import { PanelFailure, type Weir } from '@weir-panel/sdk';
import type { Order } from './payment.js';

export interface Delivered {
  readonly client: string;
  /** false: an earlier delivery has created it */
  readonly created: boolean;
}

/** Rejects with PanelFailure or PanelUnreachable; then the provider sends the payment again. */
export async function deliver(
  weir: Weir,
  inboundIds: number[],
  { orderId, customer, bytes, expiresAt }: Order,
): Promise<Delivered> {
  const client = `order-${orderId}`;
  try {
    await weir.clients.add(
      {
        body: {
          client: { email: client, totalGB: bytes, expiryTime: expiresAt, comment: customer, group: 'shop' },
          inboundIds,
        },
      },
      // The panel creates it once, also when its reply is lost, and when two deliveries come at the same time.
      { idempotencyKey: client },
    );
    return { client, created: true };
  } catch (error) {
    // The panel has forgotten the key after 24 hours, but the name is still taken.
    if (error instanceof PanelFailure && error.code === 'CLIENTS_EMAIL_TAKEN')
      return { client, created: false };
    throw error;
  }
}
