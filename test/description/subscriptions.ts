// The sections about balancers and the subscription server, as the API description has them.
import type { Section } from './asking.js';
import type { Shape } from './shape.js';

const BALANCER = {
  id: 'integer',
  remark: 'text',
  strategy: 'text',
  inboundIds: ['integer'],
  memberWeights: { '*': 'number' },
  sortOrder: 'integer',
  enabled: 'boolean',
  createdAt: 'ms',
  updatedAt: 'ms',
} as const satisfies Shape;
const FORM = ['remark', 'strategy', 'inboundIds', 'memberWeights', 'sortOrder', 'enabled'];
const AT = '/panel/api/sub-balancers';

export const BALANCERS: Section = {
  [`GET ${AT}`]: { gives: [BALANCER] },
  [`POST ${AT}`]: { takes: FORM, gives: BALANCER },
  [`POST ${AT}/{id}`]: { takes: FORM, gives: BALANCER },
  [`DELETE ${AT}/{id}`]: { gives: BALANCER },
  [`POST ${AT}/{id}/del`]: { gives: BALANCER },
};

/** `GET {subPath}{subid}/hwid-status`. */
export const HWID_STATUS = {
  active: 'boolean',
  full: 'boolean',
  limit: 'integer',
  registered: 'integer',
  remaining: 'integer',
} as const satisfies Shape;

/** Its listener is another one, so its paths are fetched and not asked for. */
export const SUBSCRIPTION_SERVER = ['subPath', 'subPath …/hwid-status', 'jsonPath', 'altFormatPath'].flatMap(
  (path) => [`GET ${path}`, `HEAD ${path}`],
);
