// The certificate of a listener. The program around the kernel decides where it comes from.
export interface Certificate {
  /** PEM, and what callers are asked for: Node reads both again at `renew` */
  readonly pem: { readonly cert: string; readonly key: string } & Pick<
    import('node:tls').TlsOptions,
    'ca' | 'requestCert' | 'rejectUnauthorized'
  >;
  readonly validTo: string;
  /** Resolves with true when the certificate has changed. An invalid one changes nothing and rejects. */
  readAgain(): Promise<boolean>;
}
