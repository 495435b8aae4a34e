// Who is online where, as replies and live messages show it.
/** Converts ids by guid to names, as replies show them; what has no name is left out. */
export const namesByGuid = (
  ids: ReadonlyMap<string, readonly number[]>,
  nameOf: (id: number) => string | undefined,
): Record<string, string[]> =>
  Object.fromEntries([...ids].map(([guid, some]) => [guid, some.flatMap((id) => nameOf(id) ?? [])]));
