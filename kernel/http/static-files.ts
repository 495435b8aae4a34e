// A folder of files as a route: a page with its scripts and pictures.
import { StaticFolder, type StaticFolderOptions } from '../../net/static-folder.js';
import { shape, text } from '../../schema/shape.js';
import { type Route, route } from './route.js';

export interface StaticFilesOptions
  extends Pick<Route, 'doc'>,
    Partial<Pick<Route, 'auth' | 'listener'>>,
    Omit<StaticFolderOptions, 'isPublic'> {
  /** path of the folder; begins and ends with a slash: `/panel/x/acme/` */
  readonly path: string;
}

/**
 * Serves a folder of the plugin, with `index.html` where a path ends with a slash. Dotfiles, and symbolic links that lead
 * out of it, are 404. Files are revalidated each time (ETag); files with a hash in their names are cached for a year.
 */
export function staticFiles({
  path,
  doc,
  auth = 'admin',
  listener = 'panel',
  ...rest
}: StaticFilesOptions): Route {
  const folder = new StaticFolder({ ...rest, isPublic: auth === 'anyone' });
  return route({
    method: 'GET',
    path: `${path}{path*}`,
    auth,
    listener,
    doc,
    params: shape({ path: text() }),
    reply: { kind: 'folder', folder },
    handle: () => undefined as never,
  });
}
