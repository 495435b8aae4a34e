// The tables of 3x-ui that are read, from version 2.3 to 3.8, and their columns.

/** `at` is the row id: pages go on from it. */
export type SourceRow = Readonly<Record<string, string | number | null>>;

const words = (text: string): readonly string[] => text.split(/\s+/);

/** Tables that are handed out row by row. Older versions lack some of the columns. */
export const ROW_TABLES = {
  users: words('username password'),
  inbounds: words(
    `id up down total remark sub_sort_index enable expiry_time traffic_reset traffic_reset_day listen port protocol
     settings stream_settings tag sniffing node_id share_addr_strategy share_addr disable_flow`,
  ),
  outbound_traffics: words('tag up down'),
  settings: words('key value'),
  inbound_client_ips: words('client_email ips'),
  nodes: words(
    `id name remark scheme address port base_path api_token allow_private_address tls_verify_mode pinned_cert_sha256
     inbound_sync_mode inbound_tags outbound_tag`,
  ),
  api_tokens: words('name token enabled created_at scope expires_at'),
  client_groups: words('name reset_up reset_down'),
  inbound_fallbacks: words('master_id child_id name alpn path dest xver sort_order'),
  hosts: words(
    `group_id inbound_id sort_order remark server_description is_disabled is_hidden tags address port security sni
     host_header path alpn fingerprint override_sni_from_address keep_sni_blank pinned_peer_cert_sha256
     verify_peer_cert_by_name allow_insecure ech_config_list cipher_suites mux_params sockopt_params final_mask
     vless_route exclude_from_sub_types mihomo_ip_version mihomo_x25519 shuffle_host node_guids`,
  ),
  outbound_subscriptions: words(
    'remark url enabled allow_private allow_insecure tag_prefix update_interval priority prepend',
  ),
  sub_balancers: words('remark strategy inbound_ids member_weights sort_order enabled'),
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type RowTable = keyof typeof ROW_TABLES;

/** Tables of which a client is put together. */
export const CLIENT_TABLES = {
  clients: words(
    `id email sub_id uuid password auth flow security reverse wg_private_key wg_public_key wg_allowed_ips
     wg_pre_shared_key wg_keep_alive secret ad_tag limit_ip limit_hwid total_gb expiry_time enable tg_id group_name
     comment reset reset_day reset_max traffic_reset traffic_reset_day created_at updated_at`,
  ),
  client_inbounds: words('client_id inbound_id flow_override'),
  client_traffics: words('email enable up down expiry_time total reset_count last_online last_sub_fetch'),
  client_hwids: words('sub_id hwid_hash first_seen last_seen user_agent device_os os_version device_model'),
  client_external_links: words('client_id kind value remark enable expiry_time name_prefix sort_index'),
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ClientTable = keyof typeof CLIENT_TABLES;

/** Without these, it is no database of 3x-ui. */
export const REQUIRED = ['users', 'inbounds', 'settings', 'client_traffics'] as const;
export const REQUIRED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  users: ['username', 'password'],
  inbounds: ['id', 'port', 'protocol', 'settings'],
  settings: ['key', 'value'],
  client_traffics: ['email', 'up', 'down'],
  clients: ['id', 'email'],
  client_inbounds: ['client_id', 'inbound_id'],
};

/** A client with all that belongs to it. */
export interface SourceClient {
  /** as a message names it, when the rest cannot be read */
  readonly email: string;
  /** row of `clients`, or what the inbounds have of an older version; keys are columns */
  readonly row: SourceRow;
  readonly traffic: SourceRow | undefined;
  /** where it is attached, with its entry in the settings of that inbound */
  readonly attachments: readonly { readonly inboundId: number; readonly entry: Entry }[];
  readonly devices: readonly SourceRow[];
  readonly links: readonly SourceRow[];
}
export type Entry = Readonly<Record<string, unknown>>;

/** What the file has, before anything of it is taken. */
export interface SourceFacts {
  /** number of rows by table, also of unknown tables */
  readonly rows: Readonly<Record<string, number>>;
  readonly clients: number;
  /** rows of the tables of clients that belong to nothing, by table and reason */
  readonly foreign: readonly { readonly table: string; readonly why: string; readonly count: number }[];
}

export type Question =
  | { readonly ask: 'open'; readonly path: string }
  | { readonly ask: 'rows'; readonly table: RowTable; readonly after: number }
  | { readonly ask: 'clients'; readonly after: number };
export type Reply =
  | { readonly problem: string }
  | { readonly facts: SourceFacts }
  | { readonly rows: readonly SourceRow[]; readonly next: number | undefined }
  | { readonly clients: readonly SourceClient[]; readonly next: number | undefined };
