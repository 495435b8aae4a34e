// What a role allows. It depends on nothing of a browser.

export interface Rights {
  readonly full: boolean;
  readonly reseller: boolean;
  readonly groups: boolean;
  /** to write includes to read: both are in the list */
  readonly permissions: readonly string[];
}
/** A permission such as `clients:write`, or what only a full admin may. */
export type Needed = 'full' | `${string}:read` | `${string}:write`;

/** `rights` are null where the panel has no roles, and undefined before it has answered. */
export const mayWith = (rights: Rights | null | undefined, needed: Needed): boolean =>
  !rights || rights.full || rights.permissions.includes(needed);

/** Who has pages of some clients, and no others. */
export type OwnKind = 'reseller' | 'groups';
export const ownKindOf = (rights: Rights | null | undefined): OwnKind | undefined =>
  rights?.reseller ? 'reseller' : rights?.groups ? 'groups' : undefined;
