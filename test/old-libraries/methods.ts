// Which methods of the libraries work here, and which call an endpoint that is still to come. docs/moving-in.md shows this
// table; the tests hold each line true, and a method that is missing here fails them.

/** A method that works; a note says what differs. */
export interface Works {
  readonly works: true;
  readonly note?: string;
}
/** A method that calls an endpoint which is still to come. */
export interface Missing {
  readonly works: false;
  /** as the library calls it */
  readonly endpoint: string;
}
export type Method = Works | Missing;

const works = (note?: string): Works => ({ works: true, ...(note !== undefined && { note }) });
const missing = (endpoint: string): Missing => ({ works: false, endpoint });
const all = (names: string): Record<string, Works> =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, works()]),
  );

/** `3xui-api-client` of npm: public methods of its class that call the panel. */
export const JAVASCRIPT: Readonly<Record<string, Method>> = {
  login: works('it cannot send a code of two-factor login; use a token then'),
  ...all('logout getTwoFactorEnable'),
  ...all(`getClients getClient getClientTraffic getSubLinks getClientLinks addModernClient updateModernClient
    deleteModernClient attachClientToInbounds detachClientFromInbounds resetAllModernClientTraffics
    deleteDepletedModernClients bulkAdjustModernClients bulkDeleteModernClients bulkCreateModernClients
    bulkAttachModernClients bulkDetachModernClients bulkResetTrafficModernClients resetModernClientTrafficByEmail
    updateModernClientTrafficByEmail getModernClientIps clearModernClientIps getOnlines getModernLastOnline
    addClientWithCredentials updateClientWithCredentials`),
  getPagedClients: works('the panel reads `page`, `sort` and `order`; not `size` and `email`'),
  ...all('getGroups getGroupEmails createGroup renameGroup deleteGroup bulkAddGroups bulkRemoveGroups'),
  ...all('getInbounds getInbound addInbound updateInbound deleteInbound importInbounds getLastOnline'),
  ...all(`addClient updateClient deleteClient deleteClientByEmail getClientTrafficsByEmail getClientTrafficsById
    getClientIps clearClientIps resetClientTraffic resetAllTraffics resetAllClientTraffics deleteDepletedClients
    getOnlineClients`),
  updateClientTraffic: works('the panel reads `upload` and `download`, the counters'),
  ...all(
    'getServerStatus getCPUHistory getConfigJson stopXrayService restartXrayService getNewUUID getNewX25519Cert',
  ),
  ...all('getNewmldsa65 getNewmlkem768 getNewVlessEnc'),
  ...all('getXrayLogs getPanelLogs getOutboundsTraffic resetOutboundsTraffic getXrayResult'),
  getNewEchCert: works('`sni` is needed'),
  ...all('getAllSettings updateSetting updateUser restartPanel getDefaultSettings'),
  ...all('getXrayVersion installXray'),
  updateGeofile: works('without a name, those that are usual or here'),
  getDb: works('the text has one character for each byte'),
  importDB: works('SQLite files of this panel only'),
  createBackup: works('a bot must be connected'),
  backupToTgBot: works('a bot must be connected'),
  getWebCertFiles: works(),
  ...all('getDefaultJsonConfig getXrayConfig updateXrayConfig'),
  manageWarp: works(),
  testOutbound: works(
    'the panel reads `allOutbounds`; without it, chains lead through the outbounds of the config',
  ),
  ...all('getNodes getNode addNode updateNode deleteNode testNode probeNode'),
  getNodeHistory: works('`metric` is `cpu`, `mem`, `netUp` or `netDown`'),
  setNodeEnable: works('`enable` is needed'),
  getCustomGeos: missing('GET /panel/api/custom-geo/list'),
  getGeoAliases: missing('GET /panel/api/custom-geo/aliases'),
  addCustomGeo: missing('POST /panel/api/custom-geo/add'),
  updateCustomGeo: missing('POST /panel/api/custom-geo/update/{id}'),
  deleteCustomGeo: missing('POST /panel/api/custom-geo/delete/{id}'),
  downloadCustomGeo: missing('POST /panel/api/custom-geo/download/{id}'),
  updateAllCustomGeo: missing('POST /panel/api/custom-geo/update-all'),
};

/** Its methods that call no panel. */
export const JAVASCRIPT_LOCAL: readonly string[] = `generateCredentials generateUUID generatePassword
  generateBulkCredentials getShadowsocksCiphers getRecommendedShadowsocksCipher generateWireGuardKeys
  generateRealityKeys generatePort validateCredentials getSessionStats clearAllSessions isSessionValid getSecurityStats
  clearBlockedIPs validateCredentialStrength generateSecureToken setDevelopmentMode`
  .trim()
  .split(/\s+/);

/** `py3xui` of PyPI, `Api` and `AsyncApi` alike. */
export const PYTHON: Readonly<Record<string, Method>> = {
  ...all('login'),
  ...all(`client.get_by_email client.get_ips client.add client.update client.reset_ips client.reset_stats
    client.delete client.online client.get_traffic_by_id`),
  'client.delete_depleted': works('of all inbounds, as on the panel that it was made for'),
  ...all('inbound.get_list inbound.get_by_id inbound.add inbound.update inbound.delete inbound.reset_stats'),
  'inbound.reset_client_stats': works('of all inbounds, as on the panel that it was made for'),
  ...all(`server.get_status server.generate_reality_keys server.get_server_config server.get_xray_version
    server.install_new_xray_version server.update_geofile`),
  'server.get_db': works(),
  'database.export': works('a bot must be connected'),
};
