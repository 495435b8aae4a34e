// What the address of the list on the own pages says.

export interface OwnView {
  readonly search?: string | undefined;
  readonly status?: string | undefined;
  readonly page?: number | undefined;
}
const STATUSES = ['online', 'active', 'expiring', 'depleted', 'deactive'] as const;
export type OwnStatus = (typeof STATUSES)[number];
export const OWN_STATUSES: readonly OwnStatus[] = STATUSES;

/** What an address says; whatever it cannot say is left out. */
export function ownViewOf(search: Record<string, unknown>): OwnView {
  const text = typeof search['search'] === 'string' ? search['search'].slice(0, 255) : '';
  const status = STATUSES.find((one) => one === search['status']);
  const page = Number(search['page']);
  return {
    ...(text !== '' && { search: text }),
    ...(status !== undefined && { status }),
    ...(Number.isSafeInteger(page) && page > 1 && { page }),
  };
}
