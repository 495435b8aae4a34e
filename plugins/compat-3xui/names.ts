// The other names of endpoints: those that older programs call, beside ours. The README lists them.

/** Method and path of an older program. */
export type Call = `${'GET' | 'POST' | 'DELETE'} /${string}`;

/** Other names with the same parameters. A parameter that ours does not have is not used. */
export const NAMES: Readonly<Record<Call, Call>> = {
  'POST /panel/api/login': 'POST /login',
  'POST /panel/api/xray/': 'POST /panel/api/engine/',
  'POST /panel/api/xray/update': 'POST /panel/api/engine/update',
  'GET /panel/api/xray/getDefaultJsonConfig': 'GET /panel/api/engine/getDefaultJsonConfig',
  'GET /panel/api/xray/getOutboundsTraffic': 'GET /panel/api/engine/getOutboundsTraffic',
  'POST /panel/api/xray/resetOutboundsTraffic': 'POST /panel/api/engine/resetOutboundsTraffic',
  'GET /panel/api/xray/getXrayResult': 'GET /panel/api/engine/getEngineResult',
  'POST /panel/api/xray/warp/{action}': 'POST /panel/api/engine/edgetunnel/{action}',
  'POST /panel/api/xray/nord/{action}': 'POST /panel/api/engine/vpnprovider/{action}',
  'POST /panel/api/xray/testOutbound': 'POST /panel/api/engine/testOutbound',
  'POST /panel/api/xray/testOutbounds': 'POST /panel/api/engine/testOutbounds',
  'POST /panel/api/xray/balancerStatus': 'POST /panel/api/engine/balancerStatus',
  'POST /panel/api/xray/balancerOverride': 'POST /panel/api/engine/balancerOverride',
  'POST /panel/api/xray/routeTest': 'POST /panel/api/engine/routeTest',
  'GET /panel/api/xray/outbound-subs': 'GET /panel/api/engine/outbound-subs',
  'POST /panel/api/xray/outbound-subs': 'POST /panel/api/engine/outbound-subs',
  'POST /panel/api/xray/outbound-subs/parse': 'POST /panel/api/engine/outbound-subs/parse',
  'POST /panel/api/xray/outbound-subs/{id}': 'POST /panel/api/engine/outbound-subs/{id}',
  'DELETE /panel/api/xray/outbound-subs/{id}': 'DELETE /panel/api/engine/outbound-subs/{id}',
  'POST /panel/api/xray/outbound-subs/{id}/del': 'POST /panel/api/engine/outbound-subs/{id}/del',
  'POST /panel/api/xray/outbound-subs/{id}/refresh': 'POST /panel/api/engine/outbound-subs/{id}/refresh',
  'POST /panel/api/xray/outbound-subs/{id}/move': 'POST /panel/api/engine/outbound-subs/{id}/move',
  'GET /panel/api/server/getXrayVersion': 'GET /panel/api/server/getEngineVersion',
  'POST /panel/api/server/installXray/{version}': 'POST /panel/api/server/installEngine/{version}',
  'POST /panel/api/server/stopXrayService': 'POST /panel/api/server/stopEngineService',
  'POST /panel/api/server/restartXrayService': 'POST /panel/api/server/restartEngineService',
  'POST /panel/api/server/xraylogs/{count}': 'POST /panel/api/server/enginelogs/{count}',
  'GET /panel/api/server/fail2banStatus': 'GET /panel/api/server/banGuardStatus',
  'GET /panel/api/server/xrayMetricsState': 'GET /panel/api/server/engineMetricsState',
  'GET /panel/api/server/xrayMetricsHistory/{metric}/{bucket}':
    'GET /panel/api/server/engineMetricsHistory/{metric}/{bucket}',
  'GET /panel/api/server/xrayObservatory': 'GET /panel/api/server/engineObservatory',
  'GET /panel/api/server/xrayObservatoryHistory/{tag}/{bucket}':
    'GET /panel/api/server/engineObservatoryHistory/{tag}/{bucket}',
  'POST /panel/api/setting/testTgBot': 'POST /panel/api/setting/testMsgBot',
  'POST /panel/api/setting/testDiscord': 'POST /panel/api/setting/testWebhook',
  'GET /panel/api/inbounds/createbackup': 'POST /panel/api/backuptotgbot',
  'POST /panel/api/clients/happLink/{id}': 'POST /panel/api/clients/appLink/{id}',
  'POST /panel/api/inbounds/onlines': 'POST /panel/api/clients/onlines',
  'POST /panel/api/inbounds/lastOnline': 'POST /panel/api/clients/lastOnline',
  'POST /panel/api/inbounds/clientIps/{email}': 'POST /panel/api/clients/ips/{email}',
  'POST /panel/api/inbounds/clearClientIps/{email}': 'POST /panel/api/clients/clearIps/{email}',
  'POST /panel/api/inbounds/updateClientTraffic/{email}': 'POST /panel/api/clients/updateTraffic/{email}',
  'POST /panel/api/inbounds/{id}/resetClientTraffic/{email}': 'POST /panel/api/clients/resetTraffic/{email}',
};
