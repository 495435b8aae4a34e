// What lies between the transport and the network: nothing, TLS or REALITY.

export interface NoSecurity {
  readonly kind: 'none';
}

/**
 * TLS, as a client's side sees it. Sources: XTLS/Xray-core discussion 716 (`sni`, `alpn`, `fp`, `ech`, `vcn`, `pcs`);
 * xtls.github.io, TLSObject; mihomo, wiki.metacubex.one, TLS; sing-box.sagernet.org, shared TLS, outbound.
 */
export interface Tls {
  readonly kind: 'tls';
  /** The name that the client asks for (SNI). Without it, or empty, the client takes the server's name. */
  readonly serverName?: string;
  readonly alpn?: readonly string[];
  /** the greeting of which program the client imitates (uTLS), such as `chrome` */
  readonly fingerprint?: string;
  /** a list of ECH configs in base64, or `name+server`: where to ask for it over DNS */
  readonly echConfigList?: string;
  /** names, separated by commas, of which the certificate must bear one, in place of `serverName` */
  readonly verifyPeerCertByName?: string;
  /** SHA-256 of certificates that are trusted, in hexadecimal or base64, as the admin wrote them */
  readonly pinnedPeerCertSha256?: readonly string[];
  /** names of cipher suites, separated by colons */
  readonly cipherSuites?: string;
  /** any certificate is taken */
  readonly allowInsecure?: boolean;
}

/** REALITY, as a client's side sees it. Sources: XTLS/Xray-core discussion 716 (`pbk`, `sid`, `spx`, `pqv`); xtls.github.io, RealityObject; XTLS/REALITY. */
export interface Reality {
  readonly kind: 'reality';
  /** the name that the client asks for (SNI); the server takes several, and each client has one of them */
  readonly serverName: string;
  /** up to 16 hexadecimal digits; empty where the server takes none */
  readonly shortId: string;
  /** X25519, base64url */
  readonly publicKey: string;
  readonly fingerprint: string;
  /** the path at which the client's crawler begins; each client has one of its own */
  readonly spiderX: string;
  /** public key of ML-DSA-65, base64url */
  readonly mldsa65Verify?: string;
  /** The client offers X25519MLKEM768 as well. Source: mihomo, wiki.metacubex.one, `reality-opts.support-x25519mlkem768`. */
  readonly x25519mlkem768?: boolean;
}

export type Security = NoSecurity | Tls | Reality;
