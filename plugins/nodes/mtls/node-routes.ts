// The routes that a central panel may call with a certificate, or with an API token of the kind `node`.

/** The router ends a path at `#`, so what follows it may not decide. */
const SEGMENT = '[^/#;?]+';
const ROUTES: readonly (readonly [method: 'GET' | 'POST', path: string])[] = [
  ['GET', 'server/status'],
  ['GET', 'server/descendants'],
  ['GET', 'server/getWebCertFiles'],
  ['GET', 'server/getUpdateStatus'],
  ['GET', `server/history/${SEGMENT}/${SEGMENT}`],
  ['GET', 'server/clientIps'],
  ['POST', 'server/clientIps'],
  ['POST', 'server/updatePanel'],
  ['POST', 'server/restartEngineService'],
  ['GET', 'inbounds/list'],
  ['POST', 'inbounds/add'],
  ['POST', `inbounds/update/${SEGMENT}`],
  ['POST', `inbounds/del/${SEGMENT}`],
  ['POST', `inbounds/${SEGMENT}/resetTraffic`],
  ['POST', `inbounds/${SEGMENT}/subSortIndex`],
  ['POST', 'inbounds/resetAllTraffics'],
  ['POST', 'inbounds/pushClientTraffics'],
  ['POST', 'clients/add'],
  ['POST', `clients/update/${SEGMENT}`],
  ['POST', `clients/del/${SEGMENT}`],
  ['POST', `clients/${SEGMENT}/detach`],
  ['POST', `clients/resetTraffic/${SEGMENT}`],
  ['POST', 'clients/onlines'],
  ['POST', 'clients/onlinesByGuid'],
  ['POST', 'clients/lastOnline'],
  ['POST', 'clients/activeInbounds'],
  ['POST', 'clients/clientIpsByGuid'],
  ['GET', 'hosts/list'],
];
const PATTERNS = ROUTES.map(([method, path]) => [method, new RegExp(`^/panel/api/${path}$`)] as const);
/** Of the plugin that takes what a central wants; which centrals there are is a matter of the admin. */
const OWN = /^\/panel\/api\/x\/node\/(?!centrals(?:\/|$))[\w-]+(?:\/[\w-]+)*$/;

/** `path` has no base path and no query. */
export function mayCentralCall(method: string, path: string): boolean {
  const asked = method === 'HEAD' ? 'GET' : method;
  if (OWN.test(path)) return asked === 'GET' || asked === 'POST';
  return PATTERNS.some(([allowed, pattern]) => allowed === asked && pattern.test(path));
}
