// What the list of clients shows, as it stands in the address.
import type { ClientsListInput } from '../../../../sdk/index.js';

export const STATUSES = ['online', 'active', 'expiring', 'depleted', 'deactive'] as const;
export type Status = (typeof STATUSES)[number];
export const SORTS = ['email', 'traffic', 'remaining', 'expiryTime', 'lastOnline', 'createdAt'] as const;
export type Sort = (typeof SORTS)[number];

export interface View {
  readonly search?: string | undefined;
  readonly status?: Status | undefined;
  /** id of an inbound */
  readonly inbound?: string | undefined;
  readonly group?: string | undefined;
  readonly sort?: Sort | undefined;
  readonly order?: 'descend' | undefined;
}

export const PAGE_SIZE = 200;
/** Longest search that the API takes. */
const LONGEST = 255;

const oneOf = <T extends string>(value: unknown, all: readonly T[]): T | undefined =>
  all.find((one) => one === value);
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : undefined;

/** What an address says; what it says wrong is left out. */
export function viewOf(params: Readonly<Record<string, unknown>>): View {
  const inbound = textOf(params['inbound']);
  return {
    search: textOf(params['search']),
    status: oneOf(params['status'], STATUSES),
    inbound: inbound !== undefined && /^\d{1,10}$/.test(inbound) ? inbound : undefined,
    group: textOf(params['group']),
    sort: oneOf(params['sort'], SORTS),
    order: oneOf(params['order'], ['descend'] as const),
  };
}

/** The call that gets one page, counted from 0. */
export const queryOf = (view: View, index: number): NonNullable<ClientsListInput['query']> => ({
  page: index + 1,
  pageSize: PAGE_SIZE,
  ...(view.search && { search: view.search }),
  ...(view.status && { status: view.status }),
  ...(view.inbound && { inboundIds: view.inbound }),
  ...(view.group && { group: view.group }),
  ...(view.sort && { sort: view.sort }),
  ...(view.order && { order: view.order }),
});

export const isFiltered = ({ search, status, inbound, group }: View): boolean =>
  [search, status, inbound, group].some((value) => value !== undefined);

/** The view after a click on the head of a column: ascending, descending, not sorted. */
export function sortedBy(view: View, sort: Sort): View {
  if (view.sort !== sort) return { ...view, sort, order: undefined };
  if (view.order === undefined) return { ...view, order: 'descend' };
  return { ...view, sort: undefined, order: undefined };
}
