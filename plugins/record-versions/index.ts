// Refuses If-Match where nothing would keep to it. What takes it is wrapped by its own plugin (`RecordVersions`).
import { contribute, definePlugin, type RequestInfo, type Route, RouteAdapters } from '../../kernel/index.js';
import { takesVersions } from './contract.js';
import { errors } from './errors.js';

function refusing(route: Route): Route {
  const handle = route.handle as unknown as (input: RequestInfo) => unknown;
  const answer = (input: RequestInfo): unknown => {
    const sent = input.headers['if-match'];
    if (sent !== undefined && sent.trim() !== '*') throw errors.NO_VERSIONS(undefined, { path: 'If-Match' });
    return handle(input);
  };
  return { ...route, handle: answer as unknown as Route['handle'] };
}

export default definePlugin({
  name: 'record-versions',
  version: '0.1.0',
  api: 1,
  about:
    'Versions of records: an update with If-Match never overwrites what somebody else has saved meanwhile.',
  contributes: () => [
    contribute(RouteAdapters, (routes) =>
      routes.map(({ owner, route }) => ({ owner, route: takesVersions(route) ? route : refusing(route) })),
    ),
  ],
});
