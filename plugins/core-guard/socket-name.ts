// How texts of the core's config name Unix sockets.

/** Whether it is a socket: a path, or an abstract name (`@name`). */
export const isSocket = (listen: string): boolean => /^[/@]/.test(listen);

/** Returns one spelling of a socket: the mode after a path (`/path,0660`) is cut off, and so is the second `@` of a padded name (`@@name`). Undefined for any other text. */
export function socketName(text: unknown): string | undefined {
  if (typeof text !== 'string' || !isSocket(text)) return undefined;
  return text.startsWith('@') ? text.replace(/^@@/, '@') : text.replace(/,\d+$/, '');
}
