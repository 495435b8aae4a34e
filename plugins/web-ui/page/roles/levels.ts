// A role as a level for each resource, and back.
export const LEVELS = ['none', 'read', 'write'] as const;
export type Level = (typeof LEVELS)[number];

/** The level of a resource; to write includes to read. */
export const levelOf = (permissions: readonly string[], resource: string): Level =>
  permissions.includes(`${resource}:write`)
    ? 'write'
    : permissions.includes(`${resource}:read`)
      ? 'read'
      : 'none';

/** Permissions with another level of one resource. Those of other resources stay, also of such that the panel does not offer now. */
export const withLevel = (permissions: readonly string[], resource: string, level: Level): string[] => [
  ...permissions.filter((one) => one !== `${resource}:read` && one !== `${resource}:write`),
  ...(level === 'none' ? [] : [`${resource}:${level}`]),
];
