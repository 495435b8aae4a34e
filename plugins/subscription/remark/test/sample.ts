// A remark input with nothing set, and ways to set one thing at a time.
import type { RemarkClient, RemarkInput } from '../tokens.js';

export const NOW = Date.UTC(2024, 0, 1, 12);
export const GB = 1024 ** 3;
export const DAY = 86_400_000;

export const DEFAULT_TEMPLATE = '{{INBOUND}}-{{EMAIL}}|📊{{TRAFFIC_LEFT}}|⏳{{DAYS_LEFT}}D';

type Changes = Partial<Omit<RemarkInput, 'client'>> & { readonly client?: Partial<RemarkClient> };

export function remarkInput({ client, ...rest }: Changes = {}): RemarkInput {
  return {
    inboundRemark: '',
    hostRemark: '',
    protocol: 'vless',
    network: 'tcp',
    security: 'none',
    now: NOW,
    timeZone: 'UTC',
    ...rest,
    client: {
      email: '',
      uuid: '',
      subId: '',
      tgId: 0,
      comment: '',
      enable: true,
      totalGB: 0,
      expiryTime: 0,
      up: 0,
      down: 0,
      createdAt: 0,
      reset: 0,
      resetDay: 0,
      ...client,
    },
  };
}

/** An inbound remark and an email, the two things most templates show. */
export function named(inboundRemark: string, email: string, client: Partial<RemarkClient> = {}): RemarkInput {
  return remarkInput({ inboundRemark, client: { email, ...client } });
}
